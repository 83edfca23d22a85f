import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Runs } from '../../protocol/runs.ts';

test('a set of numbers is kept as ascending runs that do not touch, through additions and removals', () => {
  const span = fc.tuple(fc.boolean(), fc.nat(60), fc.nat(8));
  fc.assert(
    fc.property(fc.array(span, { maxLength: 40 }), (spans) => {
      const runs = new Runs();
      const model = new Set<number>();
      for (const [adds, first, more] of spans) {
        if (more > 0) runs[adds ? 'add' : 'remove'](first, first + more);
        else runs[adds ? 'add' : 'remove'](first);
        for (let number = first; number <= first + more; number++) model[adds ? 'add' : 'delete'](number);
      }
      const held: number[] = [];
      let before = Number.NEGATIVE_INFINITY;
      for (const [first, last] of runs.all) {
        expect(first).toBeGreaterThan(before + 1);
        for (let number = first; number <= last; number++) held.push(number);
        before = last;
      }
      expect(runs.size).toBe(model.size);
      expect(held).toEqual([...model].sort((a, b) => a - b));
      for (let number = -1; number < 72; number++) expect(runs.has(number)).toBe(model.has(number));
    }),
  );
});
