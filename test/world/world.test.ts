import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runs } from '../rig/runs.ts';
import { allMutants, edited } from './mutants.ts';
import { planOf } from './newest-plan.ts';
import { fleetPlanOf, type Happening, narrowPlanOf, rarePlanOf, widePlanOf } from './plan.ts';
import { runWorld } from './world.ts';

const MINUTE = 60_000;

test('a seed defines a world byte for byte', async () => {
  const plan = planOf(20, 2 * MINUTE);
  const [first, second] = [await runWorld(plan), await runWorld(planOf(20, 2 * MINUTE))];
  expect(first.lines).toBeGreaterThan(200);
  expect(second.hash).toBe(first.hash);
  expect((await runWorld(planOf(21, 2 * MINUTE))).hash).not.toBe(first.hash);
});

test('each mutant still fits its source', () => {
  for (const mutant of allMutants) {
    const source = readFileSync(mutant.file, 'utf8');
    expect(edited(source, mutant)).not.toBe(source);
  }
});

/**
 * Worlds in which a search found a defect while there were fewer kinds of events. `npm test` runs one world with all
 * kinds of events, and `npm run test:properties` runs these.
 */
const seeds: readonly (readonly [seed: number, found: string])[] = [
  [10, 'Status at the hub was not updated after a start whose number the car could not store'],
  [19, 'one of two keys revoked at the same time stayed trusted'],
  [256, 'a message was never requested, because an earlier start had sent another one with its number from memory'],
  [291, 'a broker lost the newest message of a class, and the hub never noticed'],
];

test.each(seeds.slice(0, runs(0, seeds.length)))(
  'no invariant is broken in the world of seed %i, which has found: %s',
  async (seed) => {
    const { breaches, story, faults } = await runWorld(narrowPlanOf(seed, 10 * MINUTE));
    expect(breaches, story.slice(-40).join('\n')).toEqual([]);
    expect(faults).toBeGreaterThan(10);
  },
);

/** The same, with more kinds of events. */
const wideSeeds: readonly (readonly [seed: number, found: string])[] = [
  [63, 'a car answered no command for five minutes, because its program had ended between two renames'],
];

test.each(wideSeeds.slice(0, runs(0, wideSeeds.length)))(
  'no invariant is broken in the wide world of seed %i, which has found: %s',
  async (seed) => {
    const { breaches, story } = await runWorld(widePlanOf(seed, 10 * MINUTE));
    expect(breaches, story.slice(-40).join('\n')).toEqual([]);
  },
);

/** The same, with still more kinds of events. */
const fullSeeds: readonly (readonly [seed: number, found: string])[] = [
  [194, 'a parked car did not send the times of Status that it had corrected when it learned the time'],
  [302, 'a command that had ended with Success was reported as Failed after a power cut amid many commands'],
  [2695, 'a message being committed did not count as waiting, and an orderly stop did not wait for it'],
  [3137, 'the test expected messages that were only in memory, after their numbers had been reused'],
  [3227, 'the test expected messages that were only in memory, after their numbers had been reused'],
  [20057, 'the test used the monitor list with the highest number, but the hub that of the last start'],
];

test.each(fullSeeds.slice(0, runs(0, fullSeeds.length)))(
  'no invariant is broken in the full world of seed %i, which has found: %s',
  async (seed) => {
    const { breaches, story } = await runWorld(rarePlanOf(seed, 10 * MINUTE));
    expect(breaches, story.slice(-40).join('\n')).toEqual([]);
  },
);

/** The same, with all kinds of events. */
const newestSeeds: readonly (readonly [seed: number, found: string])[] = [
  [1039, 'a hub repeatedly sent a car monitors that it already had, because a full outbox had dropped their list'],
];

test.each(newestSeeds.slice(0, runs(0, newestSeeds.length)))(
  'no invariant is broken in the newest world of seed %i, which has found: %s',
  async (seed) => {
    const { breaches, story } = await runWorld(fleetPlanOf(seed, 10 * MINUTE));
    expect(breaches, story.slice(-40).join('\n')).toEqual([]);
  },
);

/** The shortest plans with which a world of a whole day has found a defect. */
const shortest: readonly (readonly [found: string, happenings: readonly Happening[]])[] = [
  [
    'the hub requested messages again that it had from an uncounted start, which it ordered too early',
    [
      { at: 10_000, car: 0, do: 'disk', code: 'EIO', for: 13_516 },
      { at: 16_000, car: 0, do: 'power', cuts: true, after: 0, off: 1_858 },
      { at: 31_000, car: 0, do: 'connection', ends: 'half-open' },
      { at: 105_000, car: 0, do: 'command', which: 559, key: 2, manner: 'once', wait: 6_000 },
      { at: 111_000, car: 0, do: 'power', cuts: false, after: 30, off: 15_693 },
      { at: 145_000, car: 0, do: 'power', cuts: false, after: 0, off: 3_855 },
    ],
  ],
];

test.each(shortest)('no invariant is broken in the plan that once found: %s', async (_, happenings) => {
  const plan = { seed: 7, length: 175_000, cars: 1, embedded: true, outboxLimit: 64 * 1024, damages: false };
  const { breaches, story } = await runWorld({ ...plan, happenings });
  expect(breaches, story.slice(-40).join('\n')).toEqual([]);
});

test.each(Array.from({ length: runs(1, 14) }, (_, place) => 1 + place))(
  'no invariant is broken in the world of seed %i, in which all may happen',
  async (seed) => {
    const { breaches, story } = await runWorld(planOf(seed, 10 * MINUTE));
    expect(breaches, story.slice(-40).join('\n')).toEqual([]);
  },
);
