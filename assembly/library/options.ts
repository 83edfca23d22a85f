/** Options of `createAgent`, checked at run time because not every program has a type-checking compiler. */
import type { CarClock } from '../../adapters/clock/system.ts';
import { parseAddress } from '../../adapters/mqtt/address.ts';
import type { MemoryStore } from '../../adapters/store/index.ts';
import type { Actuator, Log } from '../../agent/ports.ts';
import type { MakeRecorder } from '../../agent/recorders/recorder.ts';
import { isTimeZone } from '../../protocol/calendar.ts';
import { VigieError } from '../../protocol/errors.ts';
import {
  type AgentSettings,
  type agentSettings,
  callbackSettings,
  captureSettings,
  collectSettings,
  commandSettings,
  healthSettings,
  outboxSettings,
  powerSettings,
  type SettingGroup,
} from '../../protocol/settings.ts';
import { isVin } from '../../protocol/topics.ts';
import type { CloudLink } from '../cloud-link.ts';
import type { OwnStore } from '../records.ts';
import {
  checkNames,
  checkNumbers,
  hasFunctions,
  isFields,
  isFunction,
  isList,
  isText,
  type OptionFields,
  type OptionRule,
  wrong,
} from './checks.ts';
import type { HttpInterface } from './http.ts';
import type { MqttLinkDescription } from './mqtt.ts';
import type { AgentSource } from './source.ts';
import type { Directory } from './store.ts';

export interface CreateAgentOptions {
  readonly vin: string;
  /** Folder of a vehicle profile, or the name of a shipped profile such as `generic-obd2`. */
  readonly profile: string;
  readonly sources?: readonly AgentSource[];
  /** If omitted, nothing is published, and messages stay in the store. */
  readonly link?: MqttLinkDescription | CloudLink;
  /** A directory, `memoryStore()`, or a function that opens your own store. If omitted, everything is in memory. */
  readonly store?: Directory | MemoryStore | (() => Promise<OwnStore>);
  /** Signed commands. If omitted, the agent rejects all commands. Needs a directory, to record executed commands. */
  readonly remotes?: {
    /** Path of the file with the keys that may sign commands. */
    readonly trust: string;
    /** Actuators that precede those of the profile. */
    readonly actuators?: readonly Actuator[];
  };
  /** Recorders in addition to the agent's own. */
  readonly recorders?: readonly MakeRecorder[];
  /** The HTTP interface. Needs a directory. */
  readonly http?: HttpInterface;
  /** IANA time zone for scheduled commands; default Europe/Paris. */
  readonly timeZone?: string;
  /** Sections of vigie.yaml, under the same names. If omitted, they have their defaults. */
  readonly settings?: Parameters<typeof agentSettings>[0];
  /** Default: nothing is logged. */
  readonly log?: Log;
  /** Default: the machine's clock. */
  readonly clock?: CarClock;
}

/** Returns true if the value has the parts of a store, like the result of `memoryStore()`. */
export function isStore(value: unknown): value is MemoryStore {
  return isFields(value) && ['outbox', 'memory', 'records'].every((part) => isFields(value[part]));
}

/** Rules by option name. `undefined` counts as omitted. */
const rules: { readonly [O in keyof Required<CreateAgentOptions>]: OptionRule } = {
  vin: [
    (value) => typeof value === 'string' && isVin(value),
    'a vehicle identification number: 17 capital letters and digits without I, O and Q (ISO 3779)',
  ],
  profile: [isText, 'the folder of a profile, or the name of a shipped one such as generic-obd2'],
  sources: [
    (value) => isList(value, isSource),
    "a list of what functions such as socketcan('can0') give, or of sources",
  ],
  link: [
    (value) =>
      isFields(value) && 'mqtt' in value ? hasBroker(value['mqtt']) : hasFunctions(value, 'open', 'publish', 'close'),
    'what mqtt({ url }) gives, or a link with open, publish and close',
  ],
  store: [
    (value) => isFunction(value) || isStore(value) || (isFields(value) && isText(value['directory'])),
    "what directory('/path') or memoryStore() gives, or a function that opens a store",
  ],
  remotes: [
    (value) =>
      isFields(value) &&
      isText(value['trust']) &&
      (value['actuators'] === undefined || isList(value['actuators'], (one) => hasFunctions(one, 'actuate'))),
    '{ trust: file }, with or without a list of actuators',
  ],
  recorders: [(value) => isList(value, isFunction), 'a list of functions, each of which makes a recorder'],
  http: [(value) => isFields(value) && isFields(value['http']), 'what localInterface() or httpInterface(…) gives'],
  timeZone: [
    (value) => typeof value === 'string' && isTimeZone(value),
    'a time zone of the IANA data base, such as Europe/Paris',
  ],
  settings: [isFields, 'sections of vigie.yaml, such as { outbox: { batch: 2_000 } }'],
  log: [(value) => hasFunctions(value, 'info', 'warn', 'error'), 'an object with the functions info, warn and error'],
  clock: [(value) => hasFunctions(value, 'now', 'monotonic', 'after'), 'a clock with now, monotonic and after'],
};

const required: readonly (keyof CreateAgentOptions)[] = ['vin', 'profile'];

const groups: { readonly [S in keyof Required<AgentSettings>]: SettingGroup } = {
  outbox: outboxSettings,
  commands: commandSettings,
  power: powerSettings,
  callbacks: callbackSettings,
  captures: captureSettings,
  collect: collectSettings,
  health: healthSettings,
};

/** @throws VigieError `usage.wrong` for the first missing, unknown or invalid option, naming it in `where` */
export function checkOptions(options: unknown): asserts options is CreateAgentOptions {
  if (!isFields(options)) throw wrong('options', 'must be an object with at least vin and profile');
  checkNames(options, rules, '');
  for (const [name, [fits, expected]] of Object.entries(rules)) {
    const value = options[name];
    const needed = (required as readonly string[]).includes(name);
    if (value === undefined ? needed : !fits(value)) throw wrong(name, `must be ${expected}`);
  }
  const { settings, link } = options as Partial<CreateAgentOptions>;
  if (link !== undefined && 'mqtt' in link) checkBroker(link.mqtt.url);
  if (settings !== undefined) checkSettings(settings as OptionFields);
}

/** @throws VigieError `usage.wrong` for an address that an MQTT link cannot use, such as `http://broker` */
function checkBroker(url: string | readonly string[]): void {
  for (const one of typeof url === 'string' ? [url] : url) {
    try {
      parseAddress(one);
    } catch (cause) {
      throw new VigieError('usage.wrong', (cause as Error).message, { where: 'link', cause });
    }
  }
}

/** Sections that users may expect in the settings. They belong to the car's profile instead. */
const PROFILE_SECTIONS = ['trips', 'alerts', 'telemetry', 'waypoints', 'impact', 'theft'];

function checkSettings(settings: OptionFields): void {
  for (const section of PROFILE_SECTIONS) {
    if (!Object.hasOwn(settings, section)) continue;
    throw wrong(`settings.${section}`, `the limits of ${section} are in the profile: write them to its profile.yaml`);
  }
  checkNames(settings, groups, 'settings.');
  for (const [section, group] of Object.entries<SettingGroup>(groups)) {
    if (settings[section] !== undefined) checkNumbers(settings[section], group, `settings.${section}`);
  }
}

/** Returns true for the description of an input, or for the program's own source. */
function isSource(value: unknown): boolean {
  return (
    hasFunctions(value, 'start', 'stop') ||
    (isFields(value) && ['can', 'obd', 'gnss', 'record'].some((kind) => isFields(value[kind])))
  );
}

function hasBroker(mqtt: unknown): boolean {
  return (
    isFields(mqtt) && (isText(mqtt['url']) || (isList(mqtt['url'], isText) && (mqtt['url'] as unknown[]).length > 0))
  );
}
