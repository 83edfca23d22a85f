/**
 * Discovery messages for Home Assistant: one per car, in the form for devices with several components. They follow Home
 * Assistant's documentation (MQTT integration, “Device discovery payload”; units and classes: the page of each entity).
 */
import type { RemoteType } from '../../protocol/remote/table.ts';
import type { Slot } from '../../protocol/slots.ts';
import { type Dictionary, nameOfPath, termOf } from '../../protocol/words/dictionary.ts';
import { orders, type WordOrder } from './commands.ts';
import { commandTopic, type ExitMessage, topicOfPath } from './exit.ts';

export interface HomeAssistantOptions {
  readonly vin: string;
  /** Display name of the car. */
  readonly title: string;
  /** Version of Vigie. */
  readonly version: string;
  /** Start of the topics on which Home Assistant looks for devices. */
  readonly discovery: string;
  /** Start of the plain topics, whose messages must have the form `value`. */
  readonly prefix: string;
  /** Topic of the connection of the hub that sends the values. If omitted, the car sends them. */
  readonly hubPresence?: string | undefined;
  /** Names of the entities. */
  readonly words: Dictionary;
  /** Returns true if the exit may send commands of this kind and the car can execute them. */
  readonly may: (type: RemoteType) => boolean;
  /** Reports that the exit sends: records of alerts, events of monitors. */
  readonly reports: readonly ReportKind[];
  /**
   * Platforms of the components that earlier messages announced, by their id. A component that is gone is repeated with
   * its platform only, which removes its entity.
   */
  readonly announced: Platforms;
}

type ReportKind = 'alert' | 'event';
export type Platforms = Readonly<Record<string, string>>;

/** One entity of a device. */
type Component = Readonly<Record<string, unknown>> & { readonly platform: string };

/** Returns the platforms of all components of a car that has these values. */
export function platformsOf(options: HomeAssistantOptions, known: Iterable<Slot>): Platforms {
  return Object.fromEntries([...componentsOf(options, known)].map(([id, { platform }]) => [id, platform]));
}

function componentsOf(options: HomeAssistantOptions, known: Iterable<Slot>): ReadonlyMap<string, Component> {
  const { vin, prefix, words, reports } = options;
  const components = new Map<string, Component>();
  const add = (id: string, component: Component): void => {
    components.set(id, { ...component, unique_id: `vigie_${vin}_${id}` });
  };
  const paths = new Set<string>();
  for (const slot of known) {
    paths.add(slot.path);
    const component = entityOf(options, slot);
    if (component !== undefined) add(slot.path.replaceAll('.', '_'), component);
  }
  if (paths.has('lastPosition.latitude') && paths.has('lastPosition.longitude')) {
    add('position', {
      platform: 'device_tracker',
      // A car has only one position, so the name of the device is enough.
      name: null,
      source_type: 'gps',
      json_attributes_topic: `${prefix}/${vin}/position`,
    });
  }
  for (const [id, component] of controlsOf(options, paths)) add(id, component);
  for (const kind of reports) {
    add(`report_${kind}`, {
      platform: 'event',
      name: termOf(words.terms, 'records', kind) ?? kind,
      state_topic: `${prefix}/${vin}/${kind === 'event' ? 'events' : `records/${kind}`}`,
      event_types: [kind],
    });
  }
  add('last_command', {
    platform: 'sensor',
    name: termOf(words.terms, 'records', 'remote') ?? 'Command',
    state_topic: `${prefix}/${vin}/command`,
    value_template: '{{ value_json.status }}',
    json_attributes_topic: `${prefix}/${vin}/command`,
    entity_category: 'diagnostic',
  });
  return components;
}

/** Topic of the discovery message of a car. */
export function discoveryTopic({ discovery, vin }: Pick<HomeAssistantOptions, 'discovery' | 'vin'>): string {
  return `${discovery}/device/vigie_${vin}/config`;
}

/** Returns the discovery message for a car that has these values. */
export function discoveryOf(options: HomeAssistantOptions, known: Iterable<Slot>): ExitMessage {
  const { vin, title, version, announced } = options;
  const components = componentsOf(options, known);
  const gone = Object.entries(announced).filter(([id]) => !components.has(id));
  const text = JSON.stringify({
    device: {
      identifiers: [`vigie_${vin}`],
      name: title,
      serial_number: vin,
      manufacturer: 'Vigie',
      sw_version: version,
    },
    origin: { name: 'Vigie', sw_version: version },
    ...availabilityOf(options),
    qos: 1,
    components: {
      ...Object.fromEntries(components),
      ...Object.fromEntries(gone.map(([id, platform]) => [id, { platform }])),
    },
  });
  return { topic: discoveryTopic(options), text, retain: true };
}

function availabilityOf({ prefix, vin, hubPresence }: HomeAssistantOptions): object {
  const topic = `${prefix}/${vin}/presence`;
  // A sleeping car wakes up for commands, and its last values remain valid.
  const template = "{{ 'offline' if value == 'offline' else 'online' }}";
  if (hubPresence === undefined) return { availability_topic: topic, availability_template: template };
  // The will of the hub sets only its own topic, so both must be online.
  return { availability: [{ topic: hubPresence }, { topic, value_template: template }], availability_mode: 'all' };
}

/** Values that describe how the car is built or how it measures, rather than what it does. */
const DIAGNOSTIC = /^lastPosition\.(signalQuality|type|fixStatus)|\.subType$|^service\.|\.health\.|\.load\.capacity$/;
/** Coordinates are left to the tracker. */
const IN_TRACKER = /^lastPosition\.(latitude|longitude)$/;

/** Device classes of values that are on or off, and which value means on. */
const BINARY: readonly (readonly [path: RegExp, deviceClass: string | undefined, on: string])[] = [
  [/^doorsState\.opening\.(RearWindow|RoofWindow)\.state$/, 'window', 'Open'],
  [/^doorsState\.opening\..*\.state$/, 'door', 'Open'],
  [/\.charging\.plugged$/, 'plug', 'true'],
  [/^kinetic\.moving$/, 'moving', 'true'],
  // For this class, on means unsafe.
  [/^safety\.beltStatus\..*\.belt$/, 'safety', 'Omission'],
  [/^lightingSystem\..*\.status$/, 'light', 'On'],
  [/^environment\.luminosity\.day$/, 'light', 'true'],
  [/^alarm\.status\.activation$/, undefined, 'Active'],
];

function entityOf(options: HomeAssistantOptions, slot: Slot): Component | undefined {
  const { path, kind, values } = slot;
  if (IN_TRACKER.test(path) || kind === 'value') return undefined;
  const { prefix, vin, words } = options;
  const common = {
    name: nameOfPath(words, path) ?? path,
    state_topic: topicOfPath(prefix, vin, path),
    value_template: UNKNOWN_IF_EMPTY,
    ...(DIAGNOSTIC.test(path) && { entity_category: 'diagnostic' }),
  };
  const binary = BINARY.find(([pattern]) => pattern.test(path));
  if (binary !== undefined || kind === 'flag') {
    const [, deviceClass, on] = binary ?? [path, undefined, 'true'];
    const off = values?.find((value) => value !== on) ?? 'false';
    return {
      platform: 'binary_sensor',
      ...common,
      ...(deviceClass !== undefined && { device_class: deviceClass }),
      payload_on: on,
      payload_off: off,
    };
  }
  if (kind === 'quantity') return { platform: 'sensor', ...common, ...unitsOf(slot) };
  if (kind === 'instant') return { platform: 'sensor', ...common, device_class: 'timestamp' };
  if (kind === 'enumeration') return { platform: 'sensor', ...common, device_class: 'enum', options: values };
  return { platform: 'sensor', ...common };
}

/** A value that is no longer known is sent as an empty message, which entities would ignore. */
const UNKNOWN_IF_EMPTY = "{{ value or 'None' }}";

/** Device classes of quantities whose unit Home Assistant supports. */
const CLASSES: readonly (readonly [path: RegExp, deviceClass: string])[] = [
  [/^energies\.Electric\.level$/, 'battery'],
  [/\.(autonomy|mileage|altitude)$/, 'distance'],
  [/\.temp$/, 'temperature'],
  [/^(kinetic\.speed|adas\.sli)$|\.chargingRate$/, 'speed'],
  [/\.load\.(residual|capacity)$/, 'energy_storage'],
  [/\.consumption\.consumption$/, 'energy_distance'],
];
/** Units that Home Assistant spells differently; `1` stands for a number without a unit. */
const UNITS: Readonly<Record<string, string>> = { degC: '°C', deg: '°', '1': '' };
const RISING = /\.mileage$|\.consumptions\.total$/;

function unitsOf({ path, unit = '', resolution }: Slot): object {
  const deviceClass = CLASSES.find(([pattern]) => pattern.test(path))?.[1];
  const shown = UNITS[unit] ?? unit;
  const digits = resolution === undefined ? undefined : Math.max(0, Math.ceil(-Math.log10(resolution) - 1e-9));
  return {
    ...(shown !== '' && { unit_of_measurement: shown }),
    ...(deviceClass !== undefined && { device_class: deviceClass }),
    state_class: RISING.test(path) ? 'total_increasing' : 'measurement',
    ...(digits !== undefined && { suggested_display_precision: digits }),
  };
}

interface Control {
  readonly platform: 'lock' | 'switch' | 'climate';
  /** Path of Status that shows the effect. */
  readonly path: string;
  /** Template expression that is true if the state is locked or on. */
  readonly isOn: string;
  readonly on: string;
  readonly off: string;
}

/** Kinds of command whose effect Status shows. All other orders become buttons. */
const CONTROLS: Readonly<Partial<Record<RemoteType, Control>>> = {
  Doors: {
    platform: 'lock',
    path: 'doorsState.lockedStates',
    isOn: "value.split(',') | select('in', ['Locked', 'SuperLocked']) | list",
    on: 'lock',
    off: 'unlock',
  },
  ElectricBatteryChargingRequest: {
    platform: 'switch',
    path: 'energies.Electric.extension.electric.charging.status',
    isOn: "value == 'InProgress'",
    on: 'on',
    off: 'off',
  },
  ThermalPreconditioning: {
    platform: 'climate',
    path: 'preconditioning.airConditioning.status',
    isOn: "value == 'Enabled'",
    on: 'on',
    off: 'off',
  },
  Stolen: { platform: 'switch', path: 'stolen.state', isOn: "value == 'true'", on: 'on', off: 'off' },
};

function* controlsOf(
  options: HomeAssistantOptions,
  paths: ReadonlySet<string>,
): Iterable<readonly [id: string, component: Component]> {
  const { may, words, prefix, vin } = options;
  const allowed = orders.filter(({ type }) => may(type));
  for (const type of new Set(allowed.map((order) => order.type))) {
    const own = allowed.filter((order) => order.type === type);
    const [{ verb } = { verb: '' }] = own;
    const control = CONTROLS[type];
    const name = termOf(words.terms, 'commands', type) ?? type;
    if (control === undefined || !paths.has(control.path)) {
      for (const order of own) yield [`${verb}_${order.word}`, buttonOf(order, name, options)];
      continue;
    }
    yield [`control_${verb}`, controlOf(control, { name, prefix, vin, verb })];
  }
}

interface ControlNames extends Pick<HomeAssistantOptions, 'prefix' | 'vin'> {
  readonly name: string;
  readonly verb: string;
}

function controlOf({ platform, path, isOn, on, off }: Control, { name, prefix, vin, verb }: ControlNames): Component {
  const command = commandTopic(prefix, vin, verb);
  const state = topicOfPath(prefix, vin, path);
  const shown = (onText: string, offText: string): string =>
    `{{ '${onText}' if ${isOn} else '${offText}' if value else 'None' }}`;
  const common = { platform, name, optimistic: false };
  if (platform === 'climate') {
    // The cabin is heated or cooled to a temperature that the car chooses.
    return {
      ...common,
      modes: ['off', 'heat_cool'],
      mode_command_topic: command,
      mode_command_template: `{{ '${off}' if value == 'off' else '${on}' }}`,
      mode_state_topic: state,
      mode_state_template: shown('heat_cool', 'off'),
    };
  }
  const [shownOn, shownOff] = platform === 'lock' ? ['LOCKED', 'UNLOCKED'] : ['ON', 'OFF'];
  return {
    ...common,
    command_topic: command,
    state_topic: state,
    value_template: shown(shownOn, shownOff),
    ...(platform === 'lock'
      ? { payload_lock: on, payload_unlock: off, state_locked: shownOn, state_unlocked: shownOff }
      : { payload_on: on, payload_off: off, state_on: shownOn, state_off: shownOff }),
  };
}

function buttonOf({ type, verb, word }: WordOrder, kind: string, options: HomeAssistantOptions): Component {
  const { prefix, vin, words } = options;
  const order = termOf(words.terms, 'orders', `${type} ${word}`);
  return {
    platform: 'button',
    name: order ?? `${kind} ${word}`,
    command_topic: commandTopic(prefix, vin, verb),
    payload_press: word,
  };
}
