/**
 * The numbers that people set for an agent, each declared once: name, unit, default, range and what it is. The form of
 * vigie.yaml is made of these declarations, and so are the types of the settings that the parts of an agent take.
 */
import { DAY } from './calendar.ts';

/** A number that people may set. */
export interface NumberSetting {
  /** Kind of value, and how people write it: a time in ms (`5s`), a size in bytes (`64MiB`), or a plain number. */
  readonly kind: 'time' | 'size' | 'number';
  readonly default: number;
  readonly about: string;
  /** Range of a plain number; for a size, `minimum` 0 where that is allowed. */
  readonly form?: { readonly minimum?: number; readonly exclusiveMinimum?: number; readonly maximum?: number };
  /** Only whole numbers count: a fraction is cut off. */
  readonly whole?: true;
  /** Values that match the form but that the agent cannot use. */
  readonly range?: SettingRange;
}

export interface SettingRange {
  readonly least?: number;
  readonly most?: number;
  /** Must be a multiple of it. */
  readonly step?: number;
  readonly fault: string;
  readonly fix: string;
}

/** Settings by name, as they stand together in a section of a file. */
export type SettingGroup = Readonly<Record<string, NumberSetting>>;

/** All values of a group: in ms, bytes, or the declared unit. */
export type Settings<G extends SettingGroup> = { readonly [K in keyof G]: number };

type More = Omit<NumberSetting, 'kind' | 'default' | 'about'>;
const time = (about: string, ms: number, range?: SettingRange) =>
  ({ kind: 'time', default: ms, about, ...(range && { range }) }) as const;
const size = (about: string, bytes: number, range?: SettingRange, more: More = {}) =>
  ({ kind: 'size', default: bytes, about, ...(range && { range }), ...more }) as const;
const number = (about: string, value: number, more: More = {}) =>
  ({ kind: 'number', default: value, about, ...more }) as const;

/** Defaults of omitted members. */
export function defaultsOf<G extends SettingGroup>(group: G): Settings<G> {
  return Object.fromEntries(Object.entries(group).map(([name, setting]) => [name, setting.default])) as Settings<G>;
}

/** MQTT 5.0, 3.1.2.10: the keep alive is 16 bits of seconds. */
const keepAliveRange = (fix: string): SettingRange => ({
  step: 1000,
  most: 65_535_000,
  fault: 'MQTT counts this in whole seconds, at most 65535',
  fix,
});

export const outboxSettings = {
  /** About a week of driving two hours a day, and small on the smallest flash. */
  limit: size('Most that may wait on disk', 64 * 2 ** 20, {
    // A journal segment and one of each class must fit, or nothing could be kept.
    least: 2 ** 20,
    fault: 'too little for messages that must not be lost',
    fix: 'write at least 1MiB',
  }),
  /** Some days of driving: a broker that lost acknowledged messages is noticed by then. */
  keepAcknowledged: size(
    'Files of acknowledged messages that stay on disk, to be sent again on request; 0: none',
    32 * 2 ** 20,
    {
      most: 128 * 2 ** 20,
      fault: 'too much beside the records, which share 512 MiB with it',
      fix: 'write at most 128MiB',
    },
    { form: { minimum: 0 } },
  ),
  /** A reading takes half the bytes it would take alone; who watches live has Status within seconds. */
  batch: time('Time for which the agent gathers readings and waypoints into one message', 60_000),
};
export type OutboxSettings = Settings<typeof outboxSettings>;

export const commandSettings = {
  /**
   * Commands are for now, or for when the car is next online. After a restore of all records one can be repeated for
   * this long.
   */
  maxValidity: time('Longest time between issue and expiry of a command', DAY, {
    // Commands of the unit's own interface are valid for two minutes.
    least: 120_000,
    most: 30 * DAY,
    fault: 'the validity of commands must be 2m to 30d',
    fix: 'write e.g. 24h',
  }),
};
export type CommandSettings = Settings<typeof commandSettings>;

export const powerSettings = {
  /** Interface 3.19.2: three minutes after each message. */
  standbyFor: time('Time that the unit stays awake after a frame or a message', 180_000),
  /** Long enough for a command to be carried out and confirmed. */
  lowBatteryStandbyFor: time('The same while the 12 V battery is low', 30_000),
  /** Below this no command is carried out either. */
  battery: number('Charge of the 12 V battery below which it is low, %', 20, { form: { minimum: 0, maximum: 100 } }),
  /** Five periods of the slowest status frame that is common (1 s). */
  busSilentAfter: time('A bus without frames for this time counts as asleep', 5_000, {
    // Messages of a bus that is awake come at least every second or two.
    least: 2_000,
    fault: 'a bus that is awake may be silent for so long',
    fix: 'write at least 2s',
  }),
  /** A sleeping body network needs about 2 s; gateways wake one bus after the other. */
  wakeTimeout: time('Time for a car to send frames after a wake-up', 10_000),
};
export type PowerSettings = Settings<typeof powerSettings>;

export const healthSettings = {
  /** Some 150 bytes: four times a day is half a kilobyte, and a unit that fares badly is noticed on the same day. */
  every: time('Interval of the health reports to the cloud', 6 * 3_600_000),
};
export type HealthSettings = Settings<typeof healthSettings>;

/** Settings of the fault codes that the agent reads. */
export const faultSettings = {
  /** A code appears at most once in a drive cycle; three requests in this time are nothing to a bus. */
  every: time('Interval of reading the fault codes while the car answers', 600_000, {
    // A reading of several control units takes seconds, in which nothing else is polled.
    least: 10_000,
    fault: 'polling would wait for the fault codes most of the time',
    fix: 'write at least 10s',
  }),
};
export type FaultSettings = Settings<typeof faultSettings>;

export const callbackSettings = {
  /** Three days of an event a minute: all that a receiver may be away for. */
  queueLimit: number('Maximum of events that wait for one receiver; above it the agent drops the oldest', 5_000, {
    form: { minimum: 100, maximum: 20_000 },
    whole: true,
  }),
};
export type CallbackSettings = Settings<typeof callbackSettings>;

/** Settings of the connection to the cloud. */
export const linkSettings = {
  /** Below the five minutes after which mobile networks commonly forget an idle connection. */
  keepalive: time('Silence after which the agent sends a ping to the broker', 60_000, keepAliveRange('write e.g. 60s')),
};
export type LinkSettings = Settings<typeof linkSettings>;

/** The same for a unit that sleeps; default: {@link linkSettings}. */
export const sleepingLinkSettings = {
  keepalive: time('As mqtt.keepalive, while the unit sleeps', 60_000, keepAliveRange('write e.g. 15m')),
};

/** How often one caller may ask at the connected-vehicle interface. */
export const rateSettings = {
  /** Every second of a day; the numbers of the published service depend on the subscription. */
  perDay: number('Requests of one caller in 24 h', 86_400, { form: { minimum: 1, maximum: 1e9 } }),
  /** A screen that loads all resources of a car at once, twice. */
  perSecond: number('Requests of one caller in a second', 50, { form: { minimum: 1, maximum: 1e6 } }),
};
export type RequestRates = Settings<typeof rateSettings>;

/** Settings of the connected-vehicle interface. */
export const interfaceSettings = {
  ...rateSettings,
  /** Some thousand times the largest body that the interface has a use for. */
  maxBodyBytes: size('Largest body of a request', 2 ** 20),
};
export type InterfaceSettings = Settings<typeof interfaceSettings>;

/** Settings of recordings of the buses. */
export const recordingSettings = {
  /** About half an hour of a bus at 2,000 frames a second; opens in any editor. */
  size: size('Bytes after which the next file is begun', 64 * 2 ** 20),
  /** Half a gigabyte, which the smallest card has. */
  keep: number('Number of files; the agent deletes the oldest first', 8, {
    form: { minimum: 1, maximum: 10_000 },
    whole: true,
  }),
};
export type RecordingBounds = Settings<typeof recordingSettings>;

/** Settings of raw frames around events. */
export const captureSettings = {
  /** 43 s of two buses with 4,000 frames a second at 24 bytes each. */
  memory: size('Memory for the newest raw frames, of a profile that has captures', 4 * 2 ** 20, {
    least: 64 * 1024,
    most: 2 ** 28,
    fault: 'the memory for raw frames must be 64KiB to 256MiB',
    fix: 'write e.g. 4MiB',
  }),
  /** One an hour: a capture of two busy buses takes a megabyte at most. */
  commandsPerDay: number('Captures that commands may ask for in a day', 24, {
    form: { minimum: 0, maximum: 10_000 },
    whole: true,
  }),
  /** A gigabyte a month; thirty captures of two busy buses. */
  bytesPerDay: size('Bytes a day from which on monitors and collisions have no further captures', 32 * 2 ** 20, {
    least: 1024,
    fault: 'too little for a capture',
    fix: 'write e.g. 32MiB',
  }),
};
export type CaptureSettings = Settings<typeof captureSettings>;

/** Settings of collections by command. */
export const collectSettings = {
  /** 300 MB a month; 200 signals at every change take some 2 MB an hour. */
  bytesPerDay: size('Bytes a day that commands may have the agent collect', 10 * 2 ** 20, {
    least: 1024,
    fault: 'too little for a message of readings',
    fix: 'write e.g. 10MiB',
  }),
};
export type CollectSettings = Settings<typeof collectSettings>;

/** Settings of the core of an agent. */
export interface AgentSettings {
  readonly outbox: OutboxSettings;
  readonly commands: CommandSettings;
  readonly power: PowerSettings;
  readonly callbacks: CallbackSettings;
  readonly captures: CaptureSettings;
  readonly collect: CollectSettings;
  /** Absent: it says hello only when there is a reason to. */
  readonly health?: HealthSettings;
}

/** The settings of an agent of which only some are chosen. */
export function agentSettings(
  chosen: { readonly [S in keyof AgentSettings]?: Partial<AgentSettings[S]> } = {},
): AgentSettings {
  return {
    outbox: { ...defaultsOf(outboxSettings), ...chosen.outbox },
    commands: { ...defaultsOf(commandSettings), ...chosen.commands },
    power: { ...defaultsOf(powerSettings), ...chosen.power },
    callbacks: { ...defaultsOf(callbackSettings), ...chosen.callbacks },
    captures: { ...defaultsOf(captureSettings), ...chosen.captures },
    collect: { ...defaultsOf(collectSettings), ...chosen.collect },
    ...(chosen.health && { health: { ...defaultsOf(healthSettings), ...chosen.health } }),
  };
}

/** Settings of an agent that somebody watches: it sends collected values within seconds. */
export const watchedSettings: AgentSettings = agentSettings({ outbox: { batch: 2_000 } });
