/**
 * Numbers that people may configure for an agent, each declared once: name, unit, default, range and meaning. The
 * schema of vigie.yaml and the setting types of the agent's parts are derived from these declarations.
 */
import { DAY } from './calendar.ts';

/** A number that people may configure. */
export interface NumberSetting {
  /** Kind of value and its notation: a time in ms (`5s`), a size in bytes (`64MiB`), or a plain number. */
  readonly kind: 'time' | 'size' | 'number';
  readonly default: number;
  readonly about: string;
  /** Range of a plain number; for a size, `minimum` is 0 where that is allowed. */
  readonly form?: { readonly minimum?: number; readonly exclusiveMinimum?: number; readonly maximum?: number };
  /** True if fractions are cut off. */
  readonly whole?: true;
  /** Range of values that the agent can use, within those that match the form. */
  readonly range?: SettingRange;
}

export interface SettingRange {
  readonly least?: number;
  readonly most?: number;
  /** The value must be a multiple of this. */
  readonly step?: number;
  readonly fault: string;
  readonly fix: string;
}

/** Settings by name, as in a section of a file. */
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

/** Returns the defaults of a group. */
export function defaultsOf<G extends SettingGroup>(group: G): Settings<G> {
  return Object.fromEntries(Object.entries(group).map(([name, setting]) => [name, setting.default])) as Settings<G>;
}

/** MQTT 5.0, 3.1.2.10: the keep-alive is a 16-bit number of seconds. */
const keepAliveRange = (fix: string): SettingRange => ({
  step: 1000,
  most: 65_535_000,
  fault: 'MQTT counts this in whole seconds, at most 65535',
  fix,
});

export const outboxSettings = {
  /** About a week with two hours of driving per day; small even on the smallest flash. */
  limit: size('Most that may wait on disk', 64 * 2 ** 20, {
    // A journal segment and one of each class must fit, or nothing could be stored.
    least: 2 ** 20,
    fault: 'too little for messages that must not be lost',
    fix: 'write at least 1MiB',
  }),
  /** Some days of driving: within this time, the loss of acknowledged messages at a broker is noticed. */
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
  /** In a batch, a reading needs half as many bytes as alone; live viewers receive Status within seconds. */
  batch: time('Time for which the agent gathers readings and waypoints into one message', 60_000),
};
export type OutboxSettings = Settings<typeof outboxSettings>;

export const commandSettings = {
  /**
   * A command takes effect now, or when the car is next online. After all records were restored from a backup, a
   * command can be repeated within this time.
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
  /** Long enough to execute and confirm a command. */
  lowBatteryStandbyFor: time('The same while the 12 V battery is low', 30_000),
  /** Below this charge, the agent does not execute commands either. */
  battery: number('Charge of the 12 V battery below which it is low, %', 20, { form: { minimum: 0, maximum: 100 } }),
  /** Five periods of the slowest common status frame (1 s). */
  busSilentAfter: time('A bus without frames for this time counts as asleep', 5_000, {
    // An awake bus sends messages at least every second or two.
    least: 2_000,
    fault: 'a bus that is awake may be silent for so long',
    fix: 'write at least 2s',
  }),
  /** A sleeping body network needs about 2 s; gateways wake the buses one after the other. */
  wakeTimeout: time('Time for a car to send frames after a wake-up', 10_000),
};
export type PowerSettings = Settings<typeof powerSettings>;

export const healthSettings = {
  /** About 150 bytes: four per day are half a kilobyte, and a failing unit is noticed on the same day. */
  every: time('Interval of the health reports to the cloud', 6 * 3_600_000),
};
export type HealthSettings = Settings<typeof healthSettings>;

/** Settings for reading fault codes. */
export const faultSettings = {
  /** A code appears at most once per drive cycle; three requests in this time are a negligible bus load. */
  every: time('Interval of reading the fault codes while the car answers', 600_000, {
    // Reading several control units takes seconds, during which nothing else is polled.
    least: 10_000,
    fault: 'polling would wait for the fault codes most of the time',
    fix: 'write at least 10s',
  }),
};
export type FaultSettings = Settings<typeof faultSettings>;

export const callbackSettings = {
  /** Three days with one event per minute: the longest absence of a receiver. */
  queueLimit: number('Maximum of events that wait for one receiver; above it the agent drops the oldest', 5_000, {
    form: { minimum: 100, maximum: 20_000 },
    whole: true,
  }),
};
export type CallbackSettings = Settings<typeof callbackSettings>;

/** Settings of the connection to the cloud. */
export const linkSettings = {
  /** Less than the five minutes after which mobile networks commonly drop an idle connection. */
  keepalive: time('Silence after which the agent sends a ping to the broker', 60_000, keepAliveRange('write e.g. 60s')),
};
export type LinkSettings = Settings<typeof linkSettings>;

/** Link settings of a sleeping unit; default: {@link linkSettings}. */
export const sleepingLinkSettings = {
  keepalive: time('As mqtt.keepalive, while the unit sleeps', 60_000, keepAliveRange('write e.g. 15m')),
};

/** Rate limits of one caller of the connected-vehicle interface. */
export const rateSettings = {
  /** One per second all day; the limits of the published service depend on the subscription. */
  perDay: number('Requests of one caller in 24 h', 86_400, { form: { minimum: 1, maximum: 1e9 } }),
  /** Twice the requests of a screen that loads all resources of a car at once. */
  perSecond: number('Requests of one caller in a second', 50, { form: { minimum: 1, maximum: 1e6 } }),
};
export type RequestRates = Settings<typeof rateSettings>;

/** Settings of the connected-vehicle interface. */
export const interfaceSettings = {
  ...rateSettings,
  /** About a thousand times the largest useful body. */
  maxBodyBytes: size('Largest body of a request', 2 ** 20),
};
export type InterfaceSettings = Settings<typeof interfaceSettings>;

/** Settings of exits: receivers of values in addition to the cloud. */
export const exitSettings = {
  /** People and home automation see no more than one value per second. */
  interval: time('Shortest time between two messages on one topic', 1000, {
    least: 100,
    fault: 'so many messages would keep the receivers busy',
    fix: 'write at least 100ms',
  }),
};
export type ExitSettings = Settings<typeof exitSettings>;

/** Settings of bus recordings. */
export const recordingSettings = {
  /** About half an hour of a bus with 2,000 frames per second; opens in any editor. */
  size: size('Bytes after which the next file is begun', 64 * 2 ** 20),
  /** Half a gigabyte, which fits on the smallest card. */
  keep: number('Number of files; the agent deletes the oldest first', 8, {
    form: { minimum: 1, maximum: 10_000 },
    whole: true,
  }),
};
export type RecordingBounds = Settings<typeof recordingSettings>;

/** Settings of the captures of raw frames around events. */
export const captureSettings = {
  /** 43 s of two buses with 4,000 frames per second of 24 bytes each. */
  memory: size('Memory for the newest raw frames, of a profile that has captures', 4 * 2 ** 20, {
    least: 64 * 1024,
    most: 2 ** 28,
    fault: 'the memory for raw frames must be 64KiB to 256MiB',
    fix: 'write e.g. 4MiB',
  }),
  /** One per hour: a capture of two busy buses has at most a megabyte. */
  commandsPerDay: number('Captures that commands may ask for in a day', 24, {
    form: { minimum: 0, maximum: 10_000 },
    whole: true,
  }),
  /** A gigabyte per month; thirty captures of two busy buses. */
  bytesPerDay: size('Bytes a day from which on monitors and collisions have no further captures', 32 * 2 ** 20, {
    least: 1024,
    fault: 'too little for a capture',
    fix: 'write e.g. 32MiB',
  }),
};
export type CaptureSettings = Settings<typeof captureSettings>;

/** Settings of collections by command. */
export const collectSettings = {
  /** 300 MB per month; 200 signals recorded at every change need about 2 MB per hour. */
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
  /** If omitted, the agent sends hello only when there is a reason. */
  readonly health?: HealthSettings;
}

/** Returns the settings of an agent; omitted ones have their defaults. */
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

/** Settings of an agent with live viewers: it sends collected values within seconds. */
export const watchedSettings: AgentSettings = agentSettings({ outbox: { batch: 2_000 } });
