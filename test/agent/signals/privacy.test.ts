/** What is read while privacy hides it leaves the car neither then nor later, whenever privacy begins and ends. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SourceMapping } from '../../../protocol/profile.ts';
import { motion, START, startCar } from '../collect/car.ts';
import { custom, receive, run } from './car.ts';

const privacy: SourceMapping = {
  ...{ scale: 1, offset: 0, invalid: [], priority: 0, message: 'M', path: 'privacy.state', signal: 'Privacy' },
  map: { 0: 'None', 1: 'Geolocation', 2: 'Full' },
};

/** Each step has a reading of its own value, or the one before again, after so many ms. */
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

/** The steps with the privacy and the value of each; the last reading is public and new. */
function drivenBy(drawn: readonly { state: number | undefined; isNew: boolean; after: number }[]): Step[] {
  let [state, value] = [0, 1];
  const driven = drawn.map((step): Step => {
    state = step.state ?? state;
    if (step.isNew) value++;
    return { state, value, after: step.after };
  });
  return [...driven, { state: 0, value: value + 1, after: 0 }];
}

/** Values that were read at least once while privacy hid at most this level. */
const allowed = (driven: readonly Step[], level: number): ReadonlySet<number> =>
  new Set(driven.filter(({ state }) => state <= level).map(({ value }) => value));

function expectAllowed(values: readonly unknown[], driven: readonly Step[], level: number): void {
  const known = allowed(driven, level);
  expect(values.filter((value) => !known.has(value as number))).toEqual([]);
  expect(values.at(-1)).toBe(driven.at(-1)?.value);
}

test('a custom signal that is read between two ticks of a private time never leaves the car', async () => {
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

test('a collected signal that is read in a private time never leaves the car, whatever batches the frames come in', async () => {
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
