import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClassNumbers } from '../../hub/numbers.ts';
import type { Run } from '../../protocol/runs.ts';

function numbersIn(runs: readonly Run[]): number[] {
  return runs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

test('reports as arrived, given up and missing what a naive set of numbers says', () => {
  const step = fc.oneof(
    fc.record({ arrive: fc.nat(40) }),
    fc.record({ from: fc.nat(40), more: fc.integer({ min: -1, max: 6 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(40), (steps, restart) => {
      let numbers = new ClassNumbers();
      const arrived = new Set<number>();
      const told = new Set<number>();
      for (const [index, one] of steps.entries()) {
        // What is kept is read again by another run.
        if (index === restart) numbers = new ClassNumbers(JSON.parse(JSON.stringify(numbers.kept)));
        if ('arrive' in one) {
          numbers.arrive(one.arrive);
          arrived.add(one.arrive);
        } else {
          numbers.giveUp([[one.from, one.from + one.more]]);
          for (let number = one.from; number <= one.from + one.more; number++) told.add(number);
        }
      }
      const report = numbers.report;
      expect(numbers.missing).toBe(numbersIn(report.missing).length);
      const all = [...Array(Math.max(-1, ...arrived, ...told) + 1).keys()];
      expect(numbersIn(report.arrived)).toEqual(all.filter((number) => arrived.has(number)));
      expect(numbersIn(report.givenUp)).toEqual(all.filter((number) => told.has(number) && !arrived.has(number)));
      expect(numbersIn(report.missing)).toEqual(all.filter((number) => !told.has(number) && !arrived.has(number)));
    }),
  );
});

test('a gap that covers billions of numbers costs one run', () => {
  const numbers = new ClassNumbers();
  numbers.giveUp([[0, Number.MAX_SAFE_INTEGER - 1]]);
  numbers.arrive(7);
  expect(numbers.report).toEqual({
    arrived: [[7, 7]],
    givenUp: [
      [0, 6],
      [8, Number.MAX_SAFE_INTEGER - 1],
    ],
    missing: [],
  });
});

test('a gap that says no numbers gives none up', () => {
  const numbers = new ClassNumbers();
  numbers.giveUp(undefined);
  expect(numbers.report).toEqual({ arrived: [], givenUp: [], missing: [] });
});
