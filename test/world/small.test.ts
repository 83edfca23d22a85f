import { expect, test } from 'vitest';
import { PART } from './mutants.ts';
import { explore, seconds } from './small.ts';

/** `npm run simulate -- --small` runs all of them. */
test('no power cut and no order of two commands makes a car act twice, late, unsigned or by a revoked key, or report what is not so', async () => {
  const { worlds, different, broken } = await explore(PART);
  expect(broken.flatMap(({ small, lived }) => [small, ...lived.breaches, ...lived.story])).toEqual([]);
  expect(worlds).toBeGreaterThan(10 * Object.keys(seconds).length);
  expect(different.size).toBeGreaterThan(worlds / 4);
});
