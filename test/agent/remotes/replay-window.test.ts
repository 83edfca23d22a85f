import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { REMEMBERED, type ReplayWindow, unite, use } from '../../../agent/remotes/replay-window.ts';

describe('counter window', () => {
  /** The window as restored from disk. */
  const kept = (window: ReplayWindow): ReplayWindow => JSON.parse(JSON.stringify(window)) as ReplayWindow;
  const windowOf = (counters: readonly number[], window?: ReplayWindow): ReplayWindow | undefined =>
    counters.reduce((before, counter) => use(before, counter) ?? before, window);

  // Some counters close together and some far apart, like counters that begin with the time in ms.
  const counter = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 2_000_000_000_000 }));

  test('a counter is accepted once, in any order, within the remembered range', () => {
    fc.assert(
      fc.property(fc.array(counter, { maxLength: 200 }), (counters) => {
        let window: ReplayWindow | undefined;
        const used = new Set<number>();
        for (const next of counters) {
          const after = use(window, next);
          expect(after !== undefined, `${next} after ${[...used]}`).toBe(!used.has(next));
          used.add(next);
          if (after !== undefined) window = kept(after);
        }
      }),
    );
  });

  test('only the highest used counters are remembered, and none below them is accepted', () => {
    const step = 1_000;
    const all = Array.from({ length: REMEMBERED + 10 }, (_, n) => n * step);
    const window = windowOf(all) as ReplayWindow;
    // The ten lowest are forgotten: neither they nor counters between them may be accepted.
    const below = [0, 1, 9 * step - 1, 9 * step];
    expect(below.map((one) => use(window, one))).toEqual(below.map(() => undefined));
    expect(all.filter((one) => use(window, one) !== undefined)).toEqual([]);
    const between = all.slice(10).map((one) => one + 1);
    expect(between.filter((one) => use(window, one) === undefined)).toEqual([]);
    expect(kept(window).earlier.length + 1).toBe(REMEMBERED);
  });

  test('the union of two windows of one key contains all counters used in either', () => {
    const step = 700;
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 120 }), fc.boolean()), { minLength: 2 }), (uses) => {
        const [left, right] = [true, false].map((side) =>
          windowOf(uses.flatMap(([n, of]) => (of === side ? [n * step] : []))),
        );
        if (left === undefined || right === undefined) return;
        const both = unite(kept(left), kept(right));
        const used = new Set(uses.map(([n]) => n * step));
        for (let n = 0; n <= 120; n++) expect(use(both, n * step) === undefined).toBe(used.has(n * step));
      }),
    );
    const forgotten = windowOf(Array.from({ length: REMEMBERED + 1 }, (_, n) => n)) as ReplayWindow;
    const other = windowOf([0, 100_000]) as ReplayWindow;
    for (const both of [unite(forgotten, other), unite(other, forgotten)]) {
      expect([0, 1, 50, 100_000, 5_000].map((one) => use(both, one) !== undefined)).toEqual([
        false,
        false,
        false,
        false,
        true,
      ]);
    }
  });

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('%s is not a valid counter', (counter) => {
    expect(use(undefined, counter)).toBeUndefined();
    expect(use({ highest: 5, earlier: [], floor: -1 }, counter)).toBeUndefined();
  });

  test('a jump of any size forgets no counter', () => {
    const window = use({ highest: 1, earlier: [1], floor: -1 }, Number.MAX_SAFE_INTEGER) as ReplayWindow;
    expect(window).toMatchObject({ highest: Number.MAX_SAFE_INTEGER, floor: -1 });
    expect([0, 1, 2].map((one) => use(window, one) !== undefined)).toEqual([false, false, true]);
  });
});
