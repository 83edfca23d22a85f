/** Questions that are asked together. */
import { expect, test } from 'vitest';
import { Batches, padded } from '../../../hub/database/batches.ts';

test('keys of one turn are read together and once each, and nothing is kept for the next turn', async () => {
  const asked: (readonly number[])[] = [];
  const batches = new Batches<number, string>(String, async (keys) => {
    asked.push(keys);
    return new Map(keys.filter((key) => key !== 3).map((key) => [String(key), `value ${key}`]));
  });
  expect(await Promise.all([1, 2, 1, 3].map((key) => batches.load(key)))).toEqual([
    'value 1',
    'value 2',
    'value 1',
    undefined,
  ]);
  expect(await batches.load(1)).toBe('value 1');
  expect(asked).toEqual([[1, 2, 3], [1]]);
});

test('more keys than one statement takes are read in parts, and a failed part rejects only its own keys', async () => {
  let parts = 0;
  const batches = new Batches<number, number>(String, async (keys) => {
    if (parts++ === 1) throw new Error('away');
    return new Map(keys.map((key) => [String(key), key]));
  });
  const results = await Promise.allSettled(Array.from({ length: 600 }, (_, key) => batches.load(key)));
  expect(parts).toBe(2);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(600 - 512);
  expect(results[511]).toEqual({ status: 'fulfilled', value: 511 });
});

test('keys are padded to a power of two', () => {
  expect([[], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4, 5]].map((keys) => padded(keys).length)).toEqual([0, 1, 2, 4, 8]);
  expect(padded(['a', 'b', 'c'])).toEqual(['a', 'b', 'c', 'c']);
});
