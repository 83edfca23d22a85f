import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairQueue } from '../../../hub/core/fair-queue.ts';

const ALL = { items: 500, bytes: 1_000_000 };
const itemsOf = (car: string, count: number, bytes = 100) =>
  Array.from({ length: count }, (_, place) => ({ car, place, bytes }));

function queueOf(...lists: readonly ReturnType<typeof itemsOf>[]) {
  const queue = new FairQueue<ReturnType<typeof itemsOf>[number]>();
  for (const item of lists.flat()) queue.add(item);
  return queue;
}

test('behind 10,000 messages of one car, a message of each of 100 others is in the next commit', () => {
  const others = Array.from({ length: 100 }, (_, place) => itemsOf(`car ${place}`, 1));
  const queue = queueOf(itemsOf('flood', 10_000), ...others);
  const taken = queue.take(ALL);
  expect(new Set(taken.map(({ car }) => car)).size).toBe(101);
  expect(taken).toHaveLength(500);
  expect(queue.length).toBe(9_600);
});

test('a car that is alone fills the commit', () => {
  expect(queueOf(itemsOf('one', 600)).take(ALL)).toHaveLength(500);
});

test('large messages of one car leave room for the other cars, and one message always fits', () => {
  const queue = queueOf(itemsOf('large', 10, 400_000), itemsOf('small', 3));
  expect(queue.take(ALL).map(({ car }) => car)).toEqual(['large', 'large', 'small', 'small']);
  expect(queueOf(itemsOf('larger', 2, 2_000_000)).take(ALL)).toHaveLength(1);
});

test('of more cars than a commit has room for, each is in one of the next commits', () => {
  const queue = queueOf(...Array.from({ length: 1_200 }, (_, place) => itemsOf(`car ${place}`, 10)));
  const cars = [1, 2, 3].flatMap(() => queue.take(ALL).map(({ car }) => car));
  expect(new Set(cars).size).toBe(1_200);
});

test('every item is taken once, in the order of its car, within the limits and in fair shares', () => {
  const item = fc.record({ car: fc.constantFrom('a', 'b', 'c', 'd'), bytes: fc.nat(40) });
  const step = fc.oneof(fc.array(item, { maxLength: 20 }), fc.constantFrom('take' as const, 'return' as const));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (list) => {
      const queue = new FairQueue<{ car: string; bytes: number; place: number }>();
      const waiting = new Map<string, number[]>();
      let place = 0;
      for (const step of [...list, ...Array.from({ length: 400 }, () => 'take' as const)]) {
        if (typeof step !== 'string') {
          for (const one of step) {
            queue.add({ ...one, place });
            waiting.set(one.car, [...(waiting.get(one.car) ?? []), place++]);
          }
          continue;
        }
        const before = new Map([...waiting].map(([car, own]) => [car, own.length]));
        const taken = queue.take({ items: 7, bytes: 100 });
        if (step === 'return') {
          queue.addFirst(taken);
          continue;
        }
        expect(taken.length).toBeLessThanOrEqual(7);
        if (taken.length > 1) expect(taken.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(100);
        for (const one of taken) expect(waiting.get(one.car)?.shift()).toBe(one.place);
        const counts = [...before].map(([car, length]) => ({
          length,
          taken: length - (waiting.get(car)?.length ?? 0),
        }));
        // A car gets at most one more than any car that still has items.
        for (const one of counts) {
          for (const other of counts) {
            if (other.taken < other.length) expect(one.taken).toBeLessThanOrEqual(other.taken + 1);
          }
        }
      }
      expect([queue.length, [...waiting.values()].flat()]).toEqual([0, []]);
    }),
  );
});
