import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CounterWindow, SPAN, use } from '../../../agent/remotes/window.ts';

describe('counter window', () => {
  test('a counter is accepted once, in any order within the span, and never below it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 }), (counters) => {
        let window: CounterWindow | undefined;
        let highest = -1;
        const used = new Set<number>();
        for (const counter of counters) {
          const next = use(window, counter);
          const acceptable = !used.has(counter) && counter > highest - SPAN;
          // A counter below the span is refused even if it is new: whether it was used can no longer be told.
          expect(next !== undefined, `${counter} after ${[...used]}`).toBe(acceptable);
          if (next === undefined) continue;
          used.add(counter);
          highest = Math.max(highest, counter);
          window = JSON.parse(JSON.stringify(next)) as CounterWindow;
        }
      }),
    );
  });

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('%s is no counter', (counter) => {
    expect(use(undefined, counter)).toBeUndefined();
    expect(use({ highest: 5, used: '1' }, counter)).toBeUndefined();
  });

  test('a leap of any size forgets what is below', () => {
    const window = use({ highest: 1, used: '3' }, Number.MAX_SAFE_INTEGER);
    expect(window).toEqual({ highest: Number.MAX_SAFE_INTEGER, used: '1' });
  });
});
