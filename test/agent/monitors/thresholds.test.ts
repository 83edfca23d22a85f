import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Thresholds } from '../../../agent/monitors/thresholds.ts';

/** Few distinct values, so that thresholds coincide and the number often equals one. */
const number = fc.integer({ min: -8, max: 8 }).map((halves) => halves / 2);

describe('thresholds of a number', () => {
  test('a threshold is notified each time the number leaves, crosses or reaches it', () => {
    const thresholds = fc.array(fc.array(number, { maxLength: 3 }), { maxLength: 12 });
    fc.assert(
      fc.property(thresholds, fc.array(number, { minLength: 1, maxLength: 40 }), (given, [start = 0, ...path]) => {
        const watched = new Thresholds<number>();
        for (const [item, at] of given.entries()) watched.add(item, at);
        watched.stand(start);
        let from = start;
        for (const to of path) {
          const [low, high] = [Math.min(from, to), Math.max(from, to)];
          const met = given.flatMap((at, item) =>
            at.filter((threshold) => threshold >= low && threshold <= high).map(() => item),
          );
          expect([...watched.cross(to)].sort()).toEqual(met.sort());
          from = to;
        }
      }),
    );
  });

  test('thresholds are removed with their owner', () => {
    const watched = new Thresholds<string>();
    watched.add('a', [1, 3]);
    watched.add('b', [2, 3]);
    watched.remove('a');
    watched.stand(0);
    expect(watched.cross(4)).toEqual(['b', 'b']);
    watched.remove('b');
    watched.stand(0);
    expect(watched.cross(4)).toEqual([]);
  });
});
