import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defined } from '../../../../protocol/defined.ts';
import type { Slot } from '../../../../protocol/slots.ts';
import { slotByPath } from '../../../../protocol/slots.ts';
import { Rig, RULE, type Says, SECOND, T } from './rig.ts';

/** One event of a history. Times are relative, so that histories shrink. */
type Event =
  | { readonly kind: 'say'; readonly after: number; readonly says: Says }
  | {
      readonly kind: 'phase';
      readonly seconds: number;
      readonly says: Says;
      readonly speed: number;
      readonly top: number;
    }
  | { readonly kind: 'silence'; readonly seconds: number }
  | { readonly kind: 'step'; readonly by: number };

const RUNS = 200;
const privacy = slotByPath.get('privacy.state') as Slot;
const rule = { ...RULE, grace: 40 * SECOND, silence: 12 * SECOND };

/** Both components of a position, or neither. */
const place = fc.record({
  'lastPosition.latitude': fc.constantFrom(43.6, 43.6001, 43.601, 44, -12),
  'lastPosition.longitude': fc.constantFrom(1.44, 1.4401, 1.45, 170),
});

const signals = fc.record(
  {
    'ignition.type': fc.constantFrom('Stop', 'StartUp', 'Start'),
    'powertrain.status': fc.constantFrom('NotRunning', 'Starting', 'Running', 'Stopping', 'Stopped'),
    'kinetic.speed': fc.constantFrom(0, 0.5, 2, 3, 50, 130.25, 655.35),
    'kinetic.moving': fc.boolean(),
    'odometer.mileage': fc.constantFrom(0, 0.1, 100, 100.1, 100.2, 101, 999_999.9, 10_000_000),
    'engines.Thermic.speed': fc.constantFrom(0, 800, 3000),
    'engines.Electric.speed': fc.constantFrom(0, -300, 9000),
    'energies.Fuel.level': fc.constantFrom(0, 40, 90.5),
    'energies.Fuel.extension.fuel.consumptions.total': fc.constantFrom(0, 1000, 1001.5, 90_000_000),
    'energies.Electric.level': fc.constantFrom(0, 50, 50.1, 100),
    'energies.Electric.extension.electric.battery.load.residual': fc.constantFrom(0, 20_000, 20_300, 10_000_000),
    'energies.Electric.extension.electric.battery.load.capacity': fc.constantFrom(0, 50_000),
    'energies.Electric.extension.electric.charging.status': fc.constantFrom('InProgress', 'Disconnected'),
    'drivingBehavior.mode': fc.constantFrom('Normal', 'ZEV', 'Hybrid'),
    'privacy.state': fc.constantFrom('None', 'None', 'None', 'Geolocation', 'Full'),
  },
  { requiredKeys: [], noNullPrototype: true },
);

const says: fc.Arbitrary<Says> = fc
  .tuple(fc.option(place, { nil: {} }), signals)
  .map(([position, rest]): Says => ({ ...position, ...rest }));

const event = (steps: fc.Arbitrary<number> | undefined): fc.Arbitrary<Event> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('say' as const), after: fc.integer({ min: 0, max: 5_000 }), says }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('phase' as const),
        seconds: fc.integer({ min: 1, max: 60 }),
        says,
        speed: fc.integer({ min: 0, max: 60 }),
        top: fc.integer({ min: 0, max: 120 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('silence' as const), seconds: fc.integer({ min: 1, max: 60 }) }),
    },
    ...(steps === undefined
      ? []
      : [{ weight: 1, arbitrary: fc.record({ kind: fc.constant('step' as const), by: steps }) }]),
  );

const history = (steps?: fc.Arbitrary<number>) => fc.array(event(steps), { maxLength: 40, size: 'max' });

/** Maximum clock error, ms. It is below half a day, because the recorder takes a day ahead for a wrong clock. */
const FURTHEST = 40_000_000;
const anyStep = fc.integer({ min: -FURTHEST, max: FURTHEST });
/** Back so far that the clock does not catch up: after a restart, Status forgets values from the future. */
const stepBack = fc.integer({ min: -FURTHEST, max: -7_200_000 });

/** One elementary step of a history. */
type Step = { readonly says: Says; readonly at: number } | { readonly tick: number };

function* stepsOf(events: readonly Event[]): Generator<Step> {
  let at = T;
  let tick = T;
  let odometer = 100;
  let offset = 0;
  for (const one of events) {
    switch (one.kind) {
      case 'step':
        if (Math.abs(offset + one.by) > FURTHEST) break;
        offset += one.by;
        at += one.by;
        tick += one.by;
        break;
      case 'say': {
        const until = at + one.after;
        for (; tick <= until; tick += SECOND) yield { tick };
        at = until;
        yield { says: one.says, at };
        break;
      }
      case 'silence':
        for (const until = at + one.seconds * SECOND; at < until; at = Math.min(until, at + SECOND)) {
          for (; tick <= at; tick += SECOND) yield { tick };
        }
        break;
      case 'phase':
        for (let second = 0; second < one.seconds; second++) {
          for (; tick <= at; tick += SECOND) yield { tick };
          const speed = Math.round((one.speed + ((one.top - one.speed) * second) / one.seconds) * 100) / 100;
          odometer = Math.min(9_999_999, odometer + speed / 3600);
          const moves = { 'kinetic.speed': speed, 'odometer.mileage': Math.floor(odometer * 10) / 10 };
          yield { says: { ...(second === 0 ? one.says : {}), ...moves }, at };
          at += SECOND;
        }
    }
  }
  for (const until = tick + 200 * SECOND; tick < until; tick += SECOND) yield { tick };
}

function play(
  events: readonly Event[],
  cuts: ReadonlySet<number> = new Set(),
  look = (_rig: Rig, _at: number): void => undefined,
): Rig {
  const rig = new Rig(rule);
  let index = 0;
  for (const step of stepsOf(events)) {
    if (cuts.has(index++)) rig.cut();
    if ('tick' in step) rig.tick(step.tick);
    else rig.say(step.says, step.at);
    look(rig, 'tick' in step ? step.tick : step.at);
  }
  return rig;
}

/** A value read again unchanged just before the clock stepped back counts as received. */
const repeatedBeforeStep: Event[] = [
  { kind: 'say', after: 2167, says: { 'energies.Fuel.extension.fuel.consumptions.total': 1001.5 } },
  { kind: 'silence', seconds: 49 },
  { kind: 'say', after: 1271, says: { 'kinetic.speed': 0, 'energies.Fuel.extension.fuel.consumptions.total': 1001.5 } },
  { kind: 'step', by: -9_029_963 },
  { kind: 'phase', seconds: 43, says: {}, speed: 59, top: 8 },
];

/** A position that was private already is not the end of the trip when everything becomes private soon after. */
const privateTwice: Event[] = [
  {
    kind: 'phase',
    seconds: 37,
    says: { 'lastPosition.latitude': 43.601, 'lastPosition.longitude': 170 },
    speed: 13,
    top: 83,
  },
  { kind: 'say', after: 4852, says: { 'privacy.state': 'Geolocation' } },
  { kind: 'phase', seconds: 58, says: { 'privacy.state': 'Full' }, speed: 41, top: 93 },
  { kind: 'phase', seconds: 8, says: { 'privacy.state': 'None' }, speed: 39, top: 72 },
];

describe('random histories', () => {
  test('a report of the distance alone equals the same fields of the open trip', () => {
    let open = 0;
    fc.assert(
      fc.property(history(anyStep), (events) => {
        play(events, new Set(), ({ recorder }, now) => {
          const { id, updatedAt, distance } = recorder.present(now) ?? {};
          const fields = id === undefined ? undefined : defined({ id, updatedAt, distance });
          expect(recorder.progress(now, false)).toEqual(fields);
          if (id !== undefined) open++;
        });
      }),
      { numRuns: RUNS },
    );
    expect(open).toBeGreaterThan(1_000);
  });

  test('any history produces trips that satisfy their schema, do not overlap, and run forward', () => {
    let made = 0;
    const lacking = new Map<string, number>();
    fc.assert(
      fc.property(history(anyStep), (events) => {
        const forms = new Map<string, number>();
        const rig = play(events);
        made += rig.trips.length;
        for (const {
          id,
          updatedAt,
          createdAt,
          startedAt = Number.NaN,
          stoppedAt,
          distance = 0,
          duration = 0,
        } of rig.put) {
          // The rig has checked the schema.
          const last = updatedAt ?? createdAt;
          if (stoppedAt !== undefined) expect(stoppedAt).toBeGreaterThanOrEqual(startedAt);
          expect(last).toBeGreaterThanOrEqual(startedAt);
          expect(last).toBeGreaterThanOrEqual(forms.get(id) ?? last);
          forms.set(id, last);
          expect(distance).toBeGreaterThanOrEqual(0);
          expect(duration).toBeGreaterThanOrEqual(0);
        }
        const { trips } = rig;
        for (const [index, trip] of trips.entries()) {
          const next = trips[index + 1];
          if (next !== undefined) {
            expect(trip.done).toBe(true);
            expect(next.startedAt).toBeGreaterThanOrEqual(trip.stoppedAt ?? Number.NaN);
          }
          const pairs = (trip.faults ?? []).map(({ fault, cause }) => `${fault} ${cause}`);
          expect(new Set(pairs).size).toBe(pairs.length);
          for (const pair of pairs) lacking.set(pair, (lacking.get(pair) ?? 0) + 1);
          for (const { consumption } of trip.energyConsumptions ?? []) expect(consumption).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: RUNS },
    );
    expect(made).toBeGreaterThan(100);
    expect([...lacking.keys()].sort()).toEqual([
      'DataLacking Connection',
      'DataLacking FullPrivacy',
      'DataLacking GeoPrivacy',
      'Unfinished Connection',
      'Unfinished FullPrivacy',
      'Unstarted Connection',
      'Unstarted FullPrivacy',
    ]);
  });

  test('restarts at any time produce the same trip records', () => {
    let made = 0;
    fc.assert(
      fc.property(history(stepBack), fc.array(fc.nat(1500), { minLength: 1, maxLength: 6 }), (events, cuts) => {
        const whole = play(events);
        made += whole.trips.length;
        expect(play(events, new Set(cuts)).put).toEqual(whole.put);
      }),
      {
        numRuns: RUNS,
        examples: [
          [repeatedBeforeStep, [55]],
          [privateTwice, [80]],
        ],
      },
    );
    expect(made).toBeGreaterThan(100);
  });

  test('Full privacy produces no trip record', () => {
    fc.assert(
      fc.property(history(), (events) => {
        let count = 0;
        let before = false;
        play(events, new Set(), (rig) => {
          const hidden = rig.status.value(privacy) === 'Full';
          if (hidden && before) expect(rig.put.length).toBe(count);
          count = rig.put.length;
          before = hidden;
        });
      }),
      { numRuns: RUNS },
    );
  });
});
