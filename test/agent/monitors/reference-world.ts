/** State of the car after each input, and its meaning for a trigger: the part of reference.ts without memory. */
import type { Alert } from '../../../protocol/schema/alert.ts';
import type { Body } from '../../../protocol/schema/message.ts';
import type { MonitorParameter, MonitorTrigger } from '../../../protocol/schema/monitor/parameter.ts';
import type { SlotValue } from '../../../protocol/slots.ts';

type Kind = 'trip' | 'alert' | 'collision' | 'maintenance' | 'stolen';
type AnyRecord = Body<Kind>;

/** Inputs to the monitors, in order. */
export type Input =
  | {
      readonly do: 'changed';
      readonly path: string;
      readonly value: SlotValue;
      readonly previous: SlotValue | undefined;
      readonly at: number;
    }
  | { readonly do: 'removed'; readonly path: string; readonly at: number }
  | {
      readonly do: 'signal';
      readonly name: string;
      readonly value: Value | undefined;
      readonly at: number;
    }
  | { readonly do: 'record'; readonly kind: Kind; readonly record: AnyRecord; readonly previous: AnyRecord | undefined }
  | { readonly do: 'tick'; readonly at: number }
  | { readonly do: 'put'; readonly id: string; readonly parameter: MonitorParameter; readonly at: number }
  | { readonly do: 'status'; readonly id: string; readonly status: 'Running' | 'Paused'; readonly at: number }
  | { readonly do: 'remove'; readonly id: string }
  | { readonly do: 'correct'; readonly by: number }
  | { readonly do: 'restart' };

export interface Told {
  readonly monitorId: string;
  readonly at: number;
  readonly refresh: boolean;
  readonly triggers: readonly string[];
  readonly values: readonly string[];
}

export type Three = boolean | undefined;
export type Value = number | string | readonly string[];

/** State of the car after an input. */
export interface World {
  readonly slots: ReadonlyMap<string, SlotValue>;
  /** Custom signals, including those that privacy has hidden since they were read. */
  readonly signals: ReadonlyMap<string, Value>;
  /** Privacy chosen in this step. Signals that it hides must not appear in an event any more. */
  readonly chosen?: string;
  readonly alerts: readonly Alert[];
  readonly ended: Alert | undefined;
  readonly maintenance: Body<'maintenance'> | undefined;
  readonly stolen: Body<'stolen'> | undefined;
  readonly collision: Body<'collision'> | undefined;
  readonly now: number;
}

export const parts: Readonly<Record<string, readonly string[]>> = {
  'vehicle.kinetic.speed': ['kinetic.speed'],
  'vehicle.kinetic.moving': ['kinetic.moving'],
  'vehicle.powertrain.status': ['powertrain.status'],
  'vehicle.doorsState.lockedState': ['doorsState.lockedStates'],
  'privacy.state': ['privacy.state'],
  'vehicle.autonomy': ['energies.Fuel.autonomy', 'energies.Electric.autonomy'],
  'vehicle.safety.beltWarning': ['safety.beltStatus.Driver.belt', 'safety.beltStatus.Passenger.belt'],
  'vehicle.doorsState.opening': ['doorsState.opening.Driver.state', 'doorsState.opening.Trunk.state'],
  'vehicle.alert': ['privacy.state'],
  'vehicle.maintenance.daysBeforeMaintenance': ['privacy.state'],
  'stolen.state': ['privacy.state'],
  used: ['kinetic.moving', 'kinetic.speed', 'ignition.type', 'powertrain.status'],
  position: ['lastPosition.latitude', 'lastPosition.longitude', 'lastPosition.type', 'lastPosition.fixStatus'],
};
export const fromRecords: Readonly<Record<string, readonly Kind[]>> = {
  'vehicle.alert': ['alert', 'stolen'],
  'vehicle.maintenance.daysBeforeMaintenance': ['maintenance', 'stolen'],
  'stolen.state': ['stolen'],
};
export const single = new Set([
  'signal.Cell.Max',
  'signal.Where.Location.X',
  'signal.Fan.On',
  'signal.Mode',
  'vehicle.kinetic.speed',
  'vehicle.kinetic.moving',
  'vehicle.powertrain.status',
  'vehicle.doorsState.lockedState',
  'privacy.state',
]);
export const atTicks = new Set(['vehicle.autonomy', 'position']);
export const onlyHappen = /^vehicle\.(trip|collision)/;

function hidesAll({ slots, stolen }: World): boolean {
  const declared = stolen?.state === true && stolen.origin === 'Declared';
  return slots.get('privacy.state') === 'Full' && !declared;
}

/** Custom signals that reveal the position of the car. */
const positions = new Set(['signal.Where.Location.X']);

/** Whether privacy hides a custom signal. */
export function hides({ slots, chosen }: World, data: string): boolean {
  const state = chosen ?? slots.get('privacy.state');
  return state === 'Full' || (state === 'Geolocation' && positions.has(data));
}

export function read(world: World, data: string): Value | undefined {
  if (data.startsWith('signal.')) return hides(world, data) ? undefined : world.signals.get(data.slice(7));
  const known = (parts[data] ?? []).map((path) => world.slots.get(path)).filter((value) => value !== undefined);
  if (single.has(data)) {
    const [value] = known;
    if (value === undefined) return undefined;
    return typeof value === 'boolean' ? `${value}` : (value as Value);
  }
  switch (data) {
    case 'vehicle.autonomy':
      return known.length === 0 ? undefined : (known as number[]).reduce((a, b) => a + b);
    case 'vehicle.safety.beltWarning':
      return known.length === 0 ? undefined : known.includes('Omission') ? 'Omission' : 'Normal';
    case 'vehicle.doorsState.opening': {
      if (known.length === 0) return undefined;
      const open = ['Driver', 'Trunk'].filter((door) => world.slots.get(`doorsState.opening.${door}.state`) === 'Open');
      return open.length === 0 ? ['Closed'] : open;
    }
    case 'vehicle.alert':
      return hidesAll(world) ? undefined : world.alerts.map(({ type }) => type);
    case 'vehicle.maintenance.daysBeforeMaintenance':
      return hidesAll(world) ? undefined : world.maintenance?.daysBeforeMaintenance;
    case 'stolen.state':
      return hidesAll(world) ? undefined : `${world.stolen?.state ?? false}`;
    case 'used': {
      if (known.length === 0) return undefined;
      const { slots } = world;
      const uses =
        slots.get('kinetic.moving') === true ||
        Number(slots.get('kinetic.speed') ?? 0) > 0 ||
        ['StartUp', 'Start'].includes(slots.get('ignition.type') as string) ||
        ['Starting', 'Running', 'Stopping'].includes(slots.get('powertrain.status') as string);
      return `${uses}`;
    }
    default:
      return undefined;
  }
}

export const text = (value: Value): string => (typeof value === 'object' ? value.join(',') : `${value}`);

export function meets(value: Value, op: string, wanted: readonly string[]): boolean {
  if (typeof value === 'number') {
    const bound = Number(wanted[0]);
    if (op === 'greaterThan') return value > bound;
    if (op === 'lowerThan') return value < bound;
    return op === 'includedIn' ? wanted.map(Number).includes(value) : value === bound;
  }
  const names = typeof value === 'object' ? value : [value];
  return names.some((name) => wanted.includes(name));
}

/** Truth of an operator, given its truth in the previous step. */
export function level(data: NonNullable<MonitorTrigger['data']>, value: Value | undefined, before: Three): Three {
  if (value === undefined) return undefined;
  const slack = data.hysteresis ?? 0;
  const wanted = data.value ?? [];
  if (before === true && slack > 0 && typeof value === 'number') {
    const bound = Number(wanted[0]);
    if (data.op === 'greaterThan') return !(value <= bound - slack);
    if (data.op === 'lowerThan') return !(value >= bound + slack);
    return !(Math.abs(value - bound) > slack);
  }
  return meets(value, data.op, wanted);
}

/** Distance of two places on the sphere, m, from the angle between their vectors. */
function metres(a: { latitude: number; longitude: number }, b: { latitude: number; longitude: number }): number {
  const vector = ({ latitude, longitude }: typeof a): [number, number, number] => {
    const [north, east] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
    return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)];
  };
  const [p, q] = [vector(a), vector(b)];
  const cross = Math.hypot(p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]);
  return 6_371_009 * Math.atan2(cross, p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
}

export function side(world: World, zone: NonNullable<MonitorTrigger['zone']>, before: Three): Three {
  const latitude = world.slots.get('lastPosition.latitude');
  const longitude = world.slots.get('lastPosition.longitude');
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return undefined;
  const fix = world.slots.get('lastPosition.fixStatus');
  const error = world.slots.get('lastPosition.type') === 'Estimated' ? 200 : fix === '3D' ? 20 : 50;
  const from = metres({ latitude, longitude }, zone.place.center) - zone.place.radius * 1000;
  return from < -error ? true : from > error ? false : (before ?? from <= 0);
}

/** Evaluates the expression with the names replaced, for every combination of the unknown values. */
export function evaluate(expression: string, names: readonly string[], truths: readonly Three[]): Three {
  const outcomes = new Set<boolean>();
  for (let row = 0; row < 2 ** names.length; row++) {
    const values = names.map((_, i) => ((row >> i) & 1) === 1);
    if (truths.every((truth, i) => truth === undefined || truth === values[i])) {
      outcomes.add(reduce(expression, new Map(names.map((name, i) => [name, values[i] as boolean]))));
    }
  }
  return outcomes.size === 1 ? [...outcomes][0] : undefined;
}

/** Rewrites the text until one letter is left. */
export function reduce(expression: string, values: ReadonlyMap<string, boolean>): boolean {
  let left = expression.replace(/[a-zA-Z]+[._-]?[0-9]*/g, (name) => (values.get(name) ? '1' : '0')).replace(/\s/g, '');
  for (let before = ''; before !== left; ) {
    before = left;
    left = left
      .replace(/!!/g, '')
      .replace(/!1/g, '0')
      .replace(/!0/g, '1')
      .replace(/\(([01])\)/g, '$1');
    if (left !== before) continue;
    left = left.replace(/([01])&([01])/g, (_, a, b) => `${a === '1' && b === '1' ? 1 : 0}`);
    if (left !== before) continue;
    // An or can be applied where no & is adjacent.
    left = left.replace(
      /(^|[(|])([01])\|([01])(?=$|[)|])/,
      (_, open, a, b) => `${open}${a === '1' || b === '1' ? 1 : 0}`,
    );
  }
  return left === '1';
}

export function describe(world: World, data: string): string | undefined {
  if (onlyHappen.test(data)) return undefined;
  const value = read(world, data);
  if (value === undefined || data !== 'vehicle.alert') return value === undefined ? undefined : text(value);
  return [...world.alerts, ...(world.ended === undefined ? [] : [world.ended])].map(({ id }) => id).join(' ');
}

/** Data names that a record triggers, with their values. */
export function occurrence(
  data: string,
  { kind, record, previous }: Extract<Input, { do: 'record' }>,
): Value | undefined {
  if (kind === 'trip' && data.startsWith('vehicle.trip')) {
    const trip = record as Body<'trip'>;
    const begins = previous === undefined;
    const ends = trip.done === true && (previous as Body<'trip'> | undefined)?.done !== true;
    if (data === 'vehicle.trip') return begins || ends ? trip.id : undefined;
    if (data === 'vehicle.trip.start') return begins ? trip.id : undefined;
    if (!ends) return undefined;
    if (data === 'vehicle.trip.duration') return trip.duration;
    if (data === 'vehicle.trip.distance') return trip.distance;
    return data === 'vehicle.trip.stop' ? trip.id : (trip.faults?.[0]?.fault ?? 'Nominal');
  }
  if (kind !== 'collision' || !data.startsWith('vehicle.collision')) return undefined;
  const { details = [] } = record as Body<'collision'>;
  const before = (previous as Body<'collision'> | undefined)?.details ?? [];
  if (details.length === 0 || JSON.stringify(details) === JSON.stringify(before)) return undefined;
  return data.endsWith('side') ? details.map(({ side }) => side) : details.flatMap(({ severity }) => severity ?? []);
}

export function inputTime(input: Input): number {
  if (input.do === 'record') {
    const { createdAt, updatedAt } = input.record;
    return updatedAt ?? createdAt;
  }
  return 'at' in input ? input.at : Number.NEGATIVE_INFINITY;
}

/** State after an input. The caller sets the time. */
export function after(world: World, input: Input): World {
  switch (input.do) {
    case 'changed':
      return { ...world, slots: new Map([...world.slots, [input.path, input.value]]) };
    case 'removed':
      return { ...world, slots: new Map([...world.slots].filter(([path]) => path !== input.path)) };
    case 'record':
      return withRecord(world, input);
    case 'signal': {
      const { name, value } = input;
      const others = [...world.signals].filter(([other]) => other !== name);
      // A value read during privacy stays unknown afterwards until it is read again.
      const isUnknown = value === undefined || hides(world, `signal.${name}`);
      return { ...world, signals: new Map(isUnknown ? others : [...others, [name, value]]) };
    }
    case 'restart':
      return { ...world, signals: new Map() };
    default:
      return world;
  }
}

function withRecord(world: World, { kind, record, previous }: Extract<Input, { do: 'record' }>): World {
  if (kind === 'alert') {
    const alert = record as Alert;
    const known = world.alerts.some(({ id }) => id === alert.id);
    if (!alert.active)
      return { ...world, alerts: world.alerts.filter(({ id }) => id !== alert.id), ended: known ? alert : undefined };
    const alerts = world.alerts.some(({ type }) => type === alert.type)
      ? world.alerts.map((other) => (other.type === alert.type ? alert : other))
      : [...world.alerts, alert];
    return { ...world, alerts };
  }
  if (kind === 'trip') return world;
  const newest = world[kind];
  if (previous !== undefined && newest !== undefined && newest.id !== record.id) return world;
  return { ...world, [kind]: record };
}
