import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type AgentRun,
  backOff,
  begun,
  CRASHES,
  crashes,
  ended,
  readRuns,
  WITHIN,
} from '../../../agent/health/starts.ts';

const MINUTE = 60_000;

test('three crashes within some minutes count, even after a clock step', () => {
  let runs: readonly AgentRun[] = [];
  for (const at of [1, 3, 6]) runs = begun(runs, { boot: 'a', at: at * MINUTE });
  expect(crashes(runs, { boot: 'a', at: 7 * MINUTE })).toBe(CRASHES);
  expect(crashes(runs, { boot: 'a', at: 17 * MINUTE })).toBe(2);
  expect(crashes(runs, { boot: 'a', at: 6 * MINUTE + WITHIN })).toBe(0);
});

test('a requested stop and a power cut are not crashes', () => {
  const runs = [1, 2, 3, 4].reduce<readonly AgentRun[]>((all, at) => ended(begun(all, { boot: 'a', at })), []);
  expect(crashes(runs, { boot: 'a', at: 5 })).toBe(0);
  const cut = [1, 2, 3, 4].map((at): AgentRun => ({ boot: `boot ${at}`, at }));
  expect(crashes(cut, { boot: 'boot 5', at: 5 })).toBe(0);
  expect(crashes(cut, { boot: 'boot 4', at: 5 })).toBe(1);
});

test('the back-off grows, and the minimal mode starts without one', () => {
  expect([0, 1, 2, CRASHES, 7].map(backOff)).toEqual([0, 1000, 4000, 0, 0]);
});

test('the list of runs is bounded, and invalid stored runs are rejected', () => {
  let runs: readonly AgentRun[] = [];
  for (let at = 0; at < 1000; at++) runs = begun(runs, { boot: 'a', at });
  expect(runs.length).toBeLessThan(20);
  expect(readRuns(JSON.parse(JSON.stringify(runs)))).toEqual(runs);
  for (const data of [undefined, {}, [1], [{ boot: 1, at: 1 }], [{ boot: 'a', at: 'b' }]]) {
    expect(readRuns(data)).toBeUndefined();
  }
});

test('property: there are never more crashes than unfinished starts of this boot', () => {
  const run = fc.record({ boot: fc.constantFrom('a', 'b'), at: fc.nat(WITHIN * 2), told: fc.boolean() });
  fc.assert(
    fc.property(fc.array(run), fc.nat(WITHIN * 2), (made, at) => {
      const runs = made.map(({ told, ...rest }): AgentRun => (told ? { ...rest, ended: true } : rest));
      const count = crashes(runs, { boot: 'a', at });
      expect(count).toBeLessThanOrEqual(made.filter(({ boot, told }) => boot === 'a' && !told).length);
      expect(
        crashes(
          runs.map((each) => ({ ...each, ended: true as const })),
          { boot: 'a', at },
        ),
      ).toBe(0);
    }),
  );
});
