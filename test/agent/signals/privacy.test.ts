/** Readings under privacy never leave the car, neither then nor later, whenever privacy begins and ends. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SourceMapping } from '../../../protocol/profile.ts';
import { motion, START, startCar } from '../collect/car.ts';
import { custom, receive, run, text } from './car.ts';

const privacy: SourceMapping = {
  scale: 1,
  offset: 0,
  invalid: [],
  priority: 0,
  message: 'M',
  path: 'privacy.state',
  signal: 'Privacy',
  map: { 0: 'None', 1: 'Geolocation', 2: 'Full' },
};

/** Each step has a new value or repeats the previous one, this many ms later. */
const steps = fc.array(
  fc.record({
    state: fc.option(fc.constantFrom(0, 1, 2), { freq: 2, nil: undefined }),
    isNew: fc.boolean(),
    after: fc.constantFrom(0, 10, 100, 400, 1_100),
  }),
  { minLength: 5, maxLength: 40 },
);

interface Step {
  readonly state: number;
  readonly value: number;
  readonly after: number;
}

/** The steps with their privacy levels and values. The last reading is public and new. */
function drivenBy(drawn: readonly { state: number | undefined; isNew: boolean; after: number }[]): Step[] {
  let [state, value] = [0, 1];
  const driven = drawn.map((step): Step => {
    state = step.state ?? state;
    if (step.isNew) value++;
    return { state, value, after: step.after };
  });
  return [...driven, { state: 0, value: value + 1, after: 0 }];
}

/** Values that were read at least once while privacy was at most at this level. */
const allowed = (driven: readonly Step[], level: number): ReadonlySet<number> =>
  new Set(driven.filter(({ state }) => state <= level).map(({ value }) => value));

function expectAllowed(values: readonly unknown[], driven: readonly Step[], level: number): void {
  const known = allowed(driven, level);
  expect(values.filter((value) => !known.has(value as number))).toEqual([]);
  expect(values.at(-1)).toBe(driven.at(-1)?.value);
}

test('a custom signal read between two ticks of private time never leaves the car', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(0, 1_000), async (drawn, interval) => {
      const rule = { interval, deadBand: 0, heartbeat: 2_000 };
      const signals = [custom('Vehicle.Torque', { rule }), custom('Vehicle.Place', { rule, position: true })];
      const car = await run(signals, { sources: [privacy] });
      const driven = drivenBy(drawn);
      for (const { state, value, after } of driven) {
        car.give({ Privacy: state });
        car.give({ 'Vehicle.Torque': value, 'Vehicle.Place': value });
        await car.pass(after);
      }
      await car.pass(5_000);
      const { readings } = receive(car.published);
      const values = (name: string) => readings.get(name)?.map(([, value]) => value) ?? [];
      expectAllowed(values('Vehicle.Torque'), driven, 1);
      expectAllowed(values('Vehicle.Place'), driven, 0);
      await car.drop();
    }),
    { numRuns: 30 },
  );
});

test('a collected signal read in private time never leaves the car, however frames are batched', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 12 }), async (drawn, size) => {
      const car = await startCar();
      const signals = [{ signal: 'MOTION.Torque' }, { signal: 'MOTION.Speed', position: true }];
      await car.order({ name: 'all', signals, until: START + 3_600_000, interval: 0 });
      const driven = drivenBy(drawn);
      for (let from = 0; from < driven.length; from += size) {
        const some = driven.slice(from, from + size);
        const span = some.reduce((sum, { after }) => sum + after, 0);
        await car.pass(span);
        const at = car.clock.now() - some.length;
        const frames = some.flatMap(({ state, value }, i) => [
          { at: at + i, id: 0x200, bytes: [state, 0, 0, 0, 0, 0, 0, 0] },
          { at: at + i, id: 0x100, bytes: motion(value, value) },
        ]);
        car.sendAll('can', frames);
      }
      // A batch that ends a private time is private itself.
      const last = driven.at(-1)?.value ?? 0;
      await car.pass(1_000);
      car.send('can', 0x100, motion(last, last));
      await car.pass(5_000);
      const { readings } = receive(car.published);
      const values = (name: string) => readings.get(name)?.map(([, value]) => value) ?? [];
      expectAllowed(values('MOTION.Torque'), driven, 1);
      expectAllowed(values('MOTION.Speed'), driven, 0);
      await car.drop();
    }),
    { numRuns: 30 },
  );
});

/** Privacy is chosen on one bus. All other signals come from another, with frames that may be delayed. */
const twoBuses = `profile: 1
name: two-buses
buses:
  - { name: can, dbc: [car.dbc] }
  - { name: body, dbc: [body.dbc] }
status:
  privacy.state: { bus: body, signal: PRIVACY.State, map: { 0: None, 1: Geolocation, 2: Full } }
  kinetic.speed: { bus: can, signal: MOTION.Speed }
  lastPosition.latitude: { bus: can, signal: PLACE.Latitude }
  lastPosition.longitude: { bus: can, signal: EAST.Longitude }
  lastPosition.altitude: { bus: can, signal: PLACE.Height }
signals:
  Vehicle.Torque: { bus: can, signal: MOTION.Torque, interval: 0 }
  Vehicle.Place: { bus: can, signal: MOTION.Speed, interval: 0, position: true }
`;

/** Degrees that represent a value, close enough for a car to drive from one to the next. */
const degrees = (value: number): number => 1 + value / 1e5;

function place(value: number, height = 0): number[] {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setInt32(0, Math.round(degrees(value) * 1e6), true);
  bytes.setInt16(4, height, true);
  return [...new Uint8Array(bytes.buffer)];
}

test('a value that another source read in private time never appears, even if its frames arrive later', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1 }), async (drawn, lags) => {
      const car = await startCar({ profile: twoBuses });
      const signals = [{ signal: 'MOTION.Torque', bus: 'can', name: 'Collected' }];
      await car.order({ name: 'all', signals, until: START + 3_600_000, interval: 0 });
      const seen = new Map<string, unknown[]>();
      car.agent.status.observe({
        changed: ({ path }, value) => void seen.set(path, [...(seen.get(path) ?? []), value]),
      });
      const driven = drivenBy(drawn);
      const late: Parameters<typeof car.sendAll>[1][number][] = [];
      for (const [i, { state, value, after }] of driven.entries()) {
        const at = car.clock.now();
        car.send('body', 0x200, [state, 0, 0, 0, 0, 0, 0, 0]);
        late.push({ at: at + 1, id: 0x100, bytes: motion(value, value) });
        late.push({ at: at + 2, id: 0x300, bytes: place(value, value) });
        late.push({ at: at + 3, id: 0x301, bytes: place(value) });
        await car.pass(10 + after);
        // Some frames are delayed while others pass.
        const lag = lags[i % lags.length] as number;
        const ready = Math.max(0, late.length - lag);
        if (ready > 0) car.sendAll('can', late.splice(0, ready));
      }
      if (late.length > 0) car.sendAll('can', late);
      await car.pass(5_000);
      const { readings } = receive(car.published);
      const values = (name: string) => readings.get(name)?.map(([, value]) => value) ?? [];
      expectAllowed(values('Vehicle.Torque'), driven, 1);
      expectAllowed(values('Collected'), driven, 1);
      expectAllowed(values('Vehicle.Place'), driven, 0);
      expectAllowed(seen.get('kinetic.speed') ?? [], driven, 1);
      for (const path of ['lastPosition.latitude', 'lastPosition.longitude']) {
        const places = (seen.get(path) ?? []) as number[];
        expectAllowed(
          places.map((value) => Math.round((value - 1) * 1e5)),
          driven,
          0,
        );
      }
      expectAllowed(seen.get('lastPosition.altitude') ?? [], driven, 0);
      await car.drop();
    }),
    { numRuns: 30 },
  );
});

test('a text read in private time is not shown afterwards until it is read again', async () => {
  const car = await run([], { texts: [text('Vehicle.Part')], sources: [privacy] });
  const shown = () => car.agent.signals?.view.get('Vehicle.Part', car.clock.now())?.value;
  car.say({ 'Vehicle.Part': 'public' });
  expect(shown()).toBe('public');
  car.give({ Privacy: 2 });
  car.say({ 'Vehicle.Part': 'private' });
  expect(shown()).toBeUndefined();
  car.give({ Privacy: 0 });
  expect(shown()).toBeUndefined();
  // Another source delivers a text that it read before that.
  await car.pass(1_000);
  const begin = car.clock.now();
  car.give({ Privacy: 2 });
  await car.pass(1_000);
  car.give({ Privacy: 0 });
  const place = car.agent.wanted.findIndex(({ signal }) => signal === 'Vehicle.Part');
  car.agent.sink().text?.(place, 'late', begin + 500);
  expect(shown()).toBeUndefined();
  car.say({ 'Vehicle.Part': 'again' });
  expect(shown()).toBe('again');
  await car.pass(2_000);
  const texts = car.published.flatMap(({ message }) => (message.kind === 'text' ? [message.body.text] : []));
  expect(texts).toEqual(['public', 'again']);
  await car.drop();
});

test('privacy of readings is the same before and after a clock step', async () => {
  const car = await run([custom('Vehicle.Torque')], { sources: [privacy] });
  car.give({ Privacy: 2 });
  await car.pass(1_000);
  car.give({ Privacy: 0 });
  car.clock.step(-3_600_000);
  await car.pass(1_000);
  car.give({ 'Vehicle.Torque': 7 });
  await car.pass(3_000);
  expect(
    receive(car.published)
      .readings.get('Vehicle.Torque')
      ?.map(([, value]) => value),
  ).toEqual([7]);
  await car.drop();
});
