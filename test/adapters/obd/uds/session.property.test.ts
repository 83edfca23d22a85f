/**
 * For any behaviour of a control unit: control is taken at most once, always returned, and everything ends in bounded
 * time.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { VigieError } from '../../../../protocol/errors.ts';
import { settled } from '../isotp/wire.ts';
import { benchOf, commands, type Manner, S3 } from './unit.ts';

const manner: fc.Arbitrary<Manner> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Manner>('proper') },
  fc.constantFrom<Manner>('deaf', 'mute', 'reset'),
  fc.record({ late: fc.integer({ min: 0, max: 7_000 }) }),
  fc.record({
    pending: fc.integer({ min: 1, max: 6 }),
    every: fc.integer({ min: 1, max: 6_000 }),
    kept: fc.boolean(),
  }),
  fc.record({
    refuse: fc.oneof(fc.constantFrom(0x21, 0x22, 0x31, 0x35, 0x78, 0x7f), fc.integer({ min: 0, max: 255 })),
  }),
  fc.record({ raw: fc.uint8Array({ minLength: 1, maxLength: 40 }) }),
  fc.record({
    // Bytes that resemble an answer.
    raw: fc
      .tuple(
        fc.constantFrom(0x50, 0x67, 0x6f, 0x71, 0x7e, 0x7f),
        fc.uint8Array({ minLength: 0, maxLength: 6 }),
        fc.constantFrom([], [0x03], [0xd0, 0x10, 0x03], [0x01, 0x02, 0x01]),
      )
      .map(([first, rest, begin]) => Uint8Array.of(first, ...begin, ...rest)),
  }),
);

/** Maximum ms from call to end: twice the longest command, with 15 s of waiting for an answer at each end. */
const BOUND = 2 * 8_000 + 4 * 15_000;

const order = fc.record({
  action: fc.constantFrom(...(Object.keys(commands) as (keyof typeof commands)[])),
  after: fc.integer({ min: 0, max: 9_000 }),
});

const run = fc.record({
  manners: fc.array(manner, { maxLength: 30 }),
  orders: fc.array(order, { minLength: 1, maxLength: 3 }),
  /** Lost frames, by their index on the bus. */
  lost: fc.array(fc.nat({ max: 120 }), { maxLength: 6 }),
  silentFrom: fc.option(fc.integer({ min: 0, max: 15_000 })),
  stopped: fc.option(fc.integer({ min: 0, max: 15_000 })),
  times: fc.constantFrom([], [0x00, 0x32, 0x01, 0xf4], [0xff, 0xff, 0xff, 0xff], [0, 0, 0, 0], [1]),
});

it('control is taken at most once, always returned, and the command ends in time', async () => {
  const seen = { fulfilled: 0, rejected: 0, taken: 0 };
  await fc.assert(
    fc.asyncProperty(run, async ({ manners, orders, lost, silentFrom, stopped, times }) => {
      const bench = benchOf({ times });
      const { clock, bus, unit, actuator } = bench;
      await clock.settle(10, 1);
      const begun = clock.monotonic();
      unit.manners = manners;
      // Index only the frames of the conversation.
      let conversed = 0;
      bus.fate = ({ id }) => (id !== 0x123 && lost.includes(conversed++) ? [] : [1]);
      if (silentFrom !== null) clock.after(silentFrom, () => bench.talk(false));

      let waited = 0;
      const outcomes = orders.map(async ({ action, after }) => {
        waited += after;
        await new Promise<void>((resolve) => clock.after(waited, resolve));
        return actuator.actuate(action).then(
          () => 'fulfilled' as const,
          (error: VigieError) => {
            // A failure has a command code and the control unit's reason.
            expect(error.code).toMatch(/^command\./);
            expect(error.fact.cause).toBeDefined();
            expect(error.message).not.toBe('');
            return 'rejected' as const;
          },
        );
      });
      const end = new Promise<void>((resolve) => {
        if (stopped === null) resolve();
        else clock.after(stopped, () => actuator.stop().then(resolve));
      });
      const outcome = await settled(clock, Promise.all([...outcomes, end]), 27_000 + 3 * BOUND);
      if (outcome.status === 'rejected') throw outcome.reason;
      for (const came of outcome.value) if (came !== undefined) seen[came]++;
      expect(clock.monotonic() - begun).toBeLessThanOrEqual(waited + 15_000 + orders.length * BOUND);

      const asked = unit.requests.length;
      await clock.settle(S3 + 40_000, 500);
      expect(unit.requests.length).toBe(asked);
      expect(unit.idle).toBe(true);
      expect(unit.violations).toEqual([]);
      expect(unit.taken).toBeLessThanOrEqual(orders.length);
      seen.taken += unit.taken;
      // Only the timer of the other bus traffic remains, and it has stopped sending.
      bench.talk(false);
      await clock.settle(1_000, 100);
      expect(clock.pending).toBe(1);
    }),
    { numRuns: 150 },
  );
  // Check that the runs include all kinds of outcomes.
  expect(seen.fulfilled).toBeGreaterThan(20);
  expect(seen.rejected).toBeGreaterThan(20);
  expect(seen.taken).toBeGreaterThan(20);
}, 240_000);
