import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AnyCar, happening } from '../rig/any-car.ts';

test('the agent survives arbitrary signals, clock steps and power cuts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 60 }), async (happenings) => {
      const car = new AnyCar();
      for (const one of happenings) await car.happen(one);
      await car.happen({ passes: 120_000 });
      expect(await car.stop()).toBe(0);
      expect(car.errors).toEqual([]);
    }),
    { numRuns: 60 },
  );
}, 120_000);
