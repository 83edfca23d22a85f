/** Random monitors and random histories of a car. */

import fc from 'fast-check';
import { defined } from '../../../protocol/defined.ts';
import type { SlotValue } from '../../../protocol/slots.ts';
import type { MonitorRig } from './rig.ts';

const SECOND = 1000;
const HOUR = 3_600_000;
/** Times around clock changes, around a new year, and on an ordinary day. */
export const starts = [
  Date.UTC(2026, 2, 28, 23, 30),
  Date.UTC(2026, 9, 24, 23, 30),
  Date.UTC(2026, 2, 8, 6, 0),
  Date.UTC(2026, 10, 1, 4, 30),
  Date.UTC(2026, 3, 4, 14, 0),
  Date.UTC(2026, 11, 31, 20, 0),
  Date.UTC(2026, 5, 10, 9, 0),
];
const zones = ['Europe/Paris', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'UTC'];

const few = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const some = (values: readonly string[]): fc.Arbitrary<string[]> => fc.subarray([...values], { minLength: 1 });

const levelOf = (data: string, values: readonly string[], ops = ['equalsTo', 'includedIn']) =>
  few(...ops).chain((op) =>
    (op === 'includedIn' ? some(values) : few(...values).map((value) => [value])).map((value) => ({ data, op, value })),
  );
const numberOf = (data: string) =>
  fc.record({
    data: fc.constant(data),
    op: few('equalsTo', 'greaterThan', 'lowerThan'),
    value: few('0', '1', '2', '3', '2.5').map((value) => [value]),
  });
const changeOf = (data: string) => fc.constant({ data, op: 'onChange' });

const powertrain = ['Stopped', 'Running', 'Stopping'];
const alerts = ['FuelLevelLow', 'EngineFault'];
const flags = ['true', 'false'];
const driven = ['Eco', 'Sport', '2'];

const withPrevious = <T extends object>(condition: fc.Arbitrary<T>, values: readonly string[]) =>
  fc.oneof(
    condition,
    fc
      .tuple(condition, some(values), few('equalsTo', 'includedIn'))
      .map(([one, value, op]) => ({ ...one, previous: { value: op === 'equalsTo' ? value.slice(0, 1) : value, op } })),
  );

const data = fc.oneof(
  fc
    .tuple(withPrevious(numberOf('vehicle.kinetic.speed'), ['0', '1', '3']), few(undefined, 0.5, 1, 2))
    .map(([one, hysteresis]) => (hysteresis === undefined ? one : { ...one, hysteresis })),
  numberOf('vehicle.autonomy'),
  fc
    .tuple(
      withPrevious(few('signal.Cell.Max', 'signal.Where.Location.X').chain(numberOf), ['0', '1', '3']),
      few(undefined, 0.5, 1, 2),
    )
    .map(([one, hysteresis]) => (hysteresis === undefined ? one : { ...one, hysteresis })),
  withPrevious(levelOf('signal.Fan.On', flags, ['equalsTo', 'onChange']).map(clean), flags),
  withPrevious(levelOf('signal.Mode', driven, ['equalsTo', 'includedIn', 'onChange']).map(clean), driven),
  withPrevious(
    levelOf('vehicle.powertrain.status', powertrain, ['equalsTo', 'includedIn', 'onChange']).map(clean),
    powertrain,
  ),
  withPrevious(levelOf('vehicle.kinetic.moving', flags, ['equalsTo', 'onChange']).map(clean), flags),
  withPrevious(levelOf('vehicle.safety.beltWarning', ['Normal', 'Omission'], ['equalsTo', 'onChange']).map(clean), [
    'Normal',
  ]),
  withPrevious(changeOf('vehicle.doorsState.opening'), ['Closed', 'Trunk']),
  withPrevious(changeOf('vehicle.doorsState.lockedState'), ['Locked', 'TrunkLocked']),
  levelOf('privacy.state', ['None', 'Geolocation', 'Full'], ['equalsTo', 'includedIn', 'onChange']).map(clean),
  levelOf('vehicle.alert', alerts, ['equalsTo', 'includedIn', 'onChange']).map(clean),
  numberOf('vehicle.maintenance.daysBeforeMaintenance'),
  levelOf('stolen.state', flags, ['equalsTo', 'onChange']).map(clean),
  levelOf('vehicle.collision.side', ['Front', 'Rear']),
  levelOf('vehicle.collision.severity', ['Minor', 'Major']),
  few('vehicle.trip', 'vehicle.trip.start', 'vehicle.trip.stop').chain(changeOf),
  numberOf('vehicle.trip.duration'),
  numberOf('vehicle.trip.distance'),
  levelOf('vehicle.trip.state', ['Nominal', 'Unstarted'], ['includedIn']),
);

function clean<T extends { op: string }>(condition: T): Omit<T, 'value'> {
  const { value: _, ...rest } = condition as T & { value?: unknown };
  return condition.op === 'onChange' ? (rest as Omit<T, 'value'>) : condition;
}

const zone = fc.record({
  transition: few('In', 'Out'),
  place: fc.record({
    radius: few(1, 2, 3000),
    center: few(
      { longitude: 179.995, latitude: 10 },
      { longitude: 20, latitude: 89.995 },
      { longitude: 2, latitude: 48 },
    ),
  }),
});

const daily = fc.record(
  {
    recurrence: fc.constant('Daily'),
    start: few('PT0H0M', 'PT1H30M', 'PT2H15M', 'PT2H30M', 'PT23H45M', 'PT10H0M'),
    duration: few('PT30M', 'PT2H', 'PT25H', 'P1D', 'P2DT1H', 'P1W'),
    occurence: fc.record(
      {
        day: fc.subarray(['Mon', 'Wed', 'Sat', 'Sun'], { minLength: 1 }),
        week: some(['w1', 'w10-w24', 'w43', 'w44-w13', 'w53']),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['recurrence', 'start', 'duration'] },
);
const once = fc.record(
  {
    recurrence: fc.constant('None'),
    start: few('2026-03-29T01:30:00+01:00', '2026-10-25T00:00:00Z', '2026-06-10T09:00:30Z'),
    duration: few('PT1M', 'PT3H'),
  },
  { requiredKeys: ['recurrence', 'start'] },
);
const time = fc.record({
  times: fc.array(fc.oneof(daily, once), { minLength: 1, maxLength: 2 }),
  timeZone: few(...zones),
});

const condition = fc.oneof(
  { weight: 6, arbitrary: data.map((one) => ({ data: one })) },
  { weight: 1, arbitrary: zone.map((one) => ({ zone: one })) },
  { weight: 1, arbitrary: time.map((one) => ({ time: one })) },
);
const held = fc.tuple(condition, few(undefined, undefined, 1, 3, 90)).map(([one, holdFor]) => {
  const watched = (one as { data?: { data: string; op: string } }).data;
  const happens =
    watched !== undefined && (watched.op === 'onChange' || /^vehicle\.(trip|collision)/.test(watched.data));
  return holdFor === undefined || happens ? one : { ...one, holdFor };
});

const names = ['a', 'b1', 'door_2', 'x.3', 'y-4'];

/** Expressions over some names. Some are always true or always false. */
function expression(used: readonly string[]): fc.Arbitrary<string> {
  return fc.letrec<{ any: string }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      few(...used),
      tie('any').map((inner) => `!${/[&|]/.test(inner) ? `(${inner})` : inner}`),
      fc.tuple(tie('any'), few('&', ' | ', '|'), tie('any')).map(([left, op, right]) => `${left}${op}${right}`),
      tie('any').map((inner) => `( ${inner})`),
    ),
  })).any;
}

export const parameter = fc
  .tuple(fc.array(held, { minLength: 1, maxLength: 5 }), few(undefined, undefined, 60, 75))
  .chain(([conditions, refreshEvent]) => {
    const used = names.slice(0, conditions.length);
    return expression(used).map((boolExp) => ({
      label: 'random',
      ...(refreshEvent === undefined ? {} : { subscribeParam: { refreshEvent } }),
      triggerParam: { triggers: conditions.map((one, index) => ({ name: used[index], ...one })), boolExp },
    }));
  });

/** One action on the rig at a time, UTC ms. */
export type Action = (rig: MonitorRig, at: number) => void;

const ids = ['m0', 'm1', 'm2'];
const give = (path: string, values: fc.Arbitrary<SlotValue>): fc.Arbitrary<Action> =>
  values.map((value) => (rig: MonitorRig, at: number) => rig.give(path, value, at));

const say = (name: string, values: fc.Arbitrary<number | undefined>): fc.Arbitrary<Action> =>
  values.map((value) => (rig: MonitorRig, at: number) => rig.signal(name, value, at));

const places: readonly (readonly [number, number])[] = [
  [10, 179.999],
  [10, -179.999],
  [10.02, 179.995],
  [10.0092, 179.995],
  [89.999, -160],
  [89.98, 20],
  [48, 2],
  [48.00899, 2],
  [48.0095, 2],
  [20, 2],
];

let made = 0;
const fresh = (): string => `${(++made).toString(16)}-1`;

/** Records that continue during a history. */
interface Going {
  trip?: { id: string; createdAt: number };
  collision?: { id: string; createdAt: number };
  stolen?: { id: string; createdAt: number; startedAt: number; origin: 'Declared' | 'Alarm' };
  alerts: Map<string, { id: string; createdAt: number; startedAt: number }>;
}
const going = new WeakMap<MonitorRig, Going>();
function goingOf(rig: MonitorRig): Going {
  const found = going.get(rig) ?? { alerts: new Map() };
  going.set(rig, found);
  return found;
}

const toggleAlert = few(...alerts).map((type) => (rig: MonitorRig, at: number) => {
  const on = goingOf(rig).alerts;
  const known = on.get(type);
  if (known === undefined) {
    const alert = { id: fresh(), createdAt: at, startedAt: at };
    on.set(type, alert);
    rig.record('alert', { ...alert, active: true, type: type as 'EngineFault' });
  } else {
    on.delete(type);
    rig.record('alert', { ...known, active: false, type: type as 'EngineFault', updatedAt: at, endAt: at });
  }
});

const toggleTrip = fc
  .tuple(few(0, 1, 2, 3), few(undefined, 1, 2.5, 3), fc.boolean())
  .map(([duration, distance, faulty]) => (rig: MonitorRig, at: number) => {
    const open = goingOf(rig);
    if (open.trip === undefined) {
      open.trip = { id: fresh(), createdAt: at };
      rig.record('trip', { ...open.trip, done: false });
      return;
    }
    rig.record('trip', {
      ...open.trip,
      updatedAt: at,
      done: true,
      duration,
      ...defined({ distance }),
      ...(faulty ? { faults: [{ fault: 'Unstarted' }] } : {}),
    });
    delete open.trip;
  });

const toggleTheft = few('Declared' as const, 'Alarm' as const).map((origin) => (rig: MonitorRig, at: number) => {
  const open = goingOf(rig);
  if (open.stolen === undefined) {
    open.stolen = { id: fresh(), createdAt: at, startedAt: at, origin };
    rig.record('stolen', { ...open.stolen, state: true });
  } else {
    rig.record('stolen', { ...open.stolen, state: false, updatedAt: at, endAt: at });
    delete open.stolen;
  }
});

const details = fc.array(
  fc.record(
    { side: few('Front' as const, 'Rear' as const), severity: few('Minor' as const, 'Major' as const) },
    { requiredKeys: ['side'], noNullPrototype: true },
  ),
  { maxLength: 2 },
);
const crash = fc.tuple(details, fc.boolean()).map(([found, another]) => (rig: MonitorRig, at: number) => {
  const open = goingOf(rig);
  if (another || open.collision === undefined) open.collision = { id: fresh(), createdAt: at };
  rig.record('collision', { ...open.collision, updatedAt: at, ...(found.length === 0 ? {} : { details: found }) });
});

const service = few(-1, 0, 1, 2, 3).map((days) => (rig: MonitorRig, at: number) => {
  rig.record('maintenance', { id: 'abc-1', createdAt: at, daysBeforeMaintenance: days });
});

const car: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: give('kinetic.speed', few(0, 0.5, 1, 1.5, 2, 2.5, 3, 4)) },
  { weight: 2, arbitrary: give('kinetic.moving', fc.boolean()) },
  { weight: 3, arbitrary: give('powertrain.status', few(...powertrain)) },
  { weight: 1, arbitrary: give('ignition.type', few('Stop', 'Start')) },
  { weight: 1, arbitrary: give('energies.Fuel.autonomy', few(0, 1, 2)) },
  { weight: 1, arbitrary: give('energies.Electric.autonomy', few(0, 1, 2)) },
  { weight: 1, arbitrary: give('safety.beltStatus.Driver.belt', few('Normal', 'Omission')) },
  { weight: 1, arbitrary: give('safety.beltStatus.Passenger.belt', few('Normal', 'Omission')) },
  { weight: 1, arbitrary: give('doorsState.opening.Driver.state', few('Open', 'Closed')) },
  { weight: 1, arbitrary: give('doorsState.opening.Trunk.state', few('Open', 'Closed')) },
  { weight: 1, arbitrary: give('doorsState.lockedStates', few(['Locked'], ['Unlocked'], ['Locked', 'TrunkLocked'])) },
  { weight: 2, arbitrary: give('privacy.state', few('None', 'None', 'Geolocation', 'Full')) },
  { weight: 4, arbitrary: say('Cell.Max', few(0, 0.5, 1, 1.5, 2, 2.5, 3, 4, undefined)) },
  { weight: 3, arbitrary: say('Where.Location.X', few(0, 1, 2, 3, undefined)) },
  { weight: 3, arbitrary: say('Fan.On', few(0, 1, undefined)) },
  { weight: 3, arbitrary: say('Mode', few(0, 1, 2, undefined)) },
  { weight: 2, arbitrary: toggleAlert },
  { weight: 2, arbitrary: toggleTrip },
  { weight: 1, arbitrary: toggleTheft },
  { weight: 1, arbitrary: crash },
  { weight: 1, arbitrary: service },
  {
    weight: 2,
    arbitrary: fc.tuple(few(...places), few('Acquire', 'Estimated'), few('2D', '3D')).map(
      ([[north, east], type, fix]) =>
        (rig: MonitorRig, at: number) =>
          rig.locate(north, east, at, type, fix),
    ),
  },
);

const hand: fc.Arbitrary<Action> = fc.oneof(
  fc.tuple(few(...ids), parameter).map(([id, input]) => (rig: MonitorRig, at: number) => {
    attempt(() => rig.put(id, input, at));
  }),
  few(...ids).map((id) => (rig: MonitorRig, at: number) => {
    const before = rig.monitors.get(id)?.monitor;
    if (before !== undefined) rig.put(id, { ...before, label: 'other', subscribeParam: { refreshEvent: 61 } }, at);
  }),
  fc.tuple(few(...ids), few('Running' as const, 'Paused' as const)).map(
    ([id, status]) =>
      (rig: MonitorRig, at: number) =>
        rig.set(id, status, at),
  ),
  few(...ids).map((id) => (rig: MonitorRig) => rig.remove(id)),
);

/** Expressions that are always true or false are refused. Other tests check that. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!/always true|never true/.test((error as Error).message)) throw error;
  }
}

const interruption: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.constant((rig: MonitorRig, at: number) => rig.restart(at)) },
  { weight: 1, arbitrary: few(HOUR, -HOUR, 5 * SECOND).map((by) => (rig: MonitorRig) => rig.correct(by)) },
);

/** Time before an action, ms. Sometimes negative: late data, or a clock set back. */
const passing = fc.oneof(
  { weight: 12, arbitrary: few(0, 10, 400, 1000, 1600) },
  { weight: 4, arbitrary: few(30 * SECOND, 61 * SECOND, 91 * SECOND) },
  { weight: 2, arbitrary: few(15 * 60 * SECOND, HOUR, 26 * HOUR) },
  { weight: 1, arbitrary: few(-500, -5 * SECOND, -HOUR) },
);

const tick: Action = (rig, at) => rig.tick(at);

export const history = fc.record({
  start: few(...starts),
  monitors: fc.array(parameter, { minLength: 3, maxLength: 3 }),
  steps: fc.array(
    fc.tuple(
      passing,
      fc.oneof(
        { weight: 12, arbitrary: car },
        { weight: 6, arbitrary: fc.constant(tick) },
        { weight: 1, arbitrary: hand },
        { weight: 1, arbitrary: interruption },
      ),
    ),
    { maxLength: 40, size: 'max' },
  ),
});

/** Applies the actions of a history to a rig. */
export function live(
  rig: MonitorRig,
  { start, monitors, steps }: typeof history extends fc.Arbitrary<infer H> ? H : never,
): void {
  let at = start;
  for (const [index, input] of monitors.entries()) attempt(() => rig.put(ids[index] as string, input, at));
  for (const [passed, act] of steps) {
    at += passed;
    act(rig, at);
  }
}
