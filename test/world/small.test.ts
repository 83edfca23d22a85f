import { expect, test } from 'vitest';
import { PART } from './mutants.ts';
import { explore, seconds } from './small.ts';

/** `npm run simulate -- --small` runs all of them. */
test('power cuts and any order of two commands never cause a repeated, late, unsigned or revoked action, or a false report', async () => {
  const { worlds, different, broken } = await explore(PART);
  expect(broken.flatMap(({ small, lived }) => [small, ...lived.breaches, ...lived.story])).toEqual([]);
  expect(worlds).toBeGreaterThan(10 * Object.keys(seconds).length);
  expect(different.size).toBeGreaterThan(worlds / 4);
});
