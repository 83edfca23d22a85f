import { expect, test } from 'vitest';
import { planOf } from './newest-plan.ts';
import { type SearchedWorld, searchWorlds } from './search.ts';
import { runWorld } from './world.ts';

test('a search in two processes runs the world of each seed once', async () => {
  const lived: SearchedWorld[] = [];
  const broken = await searchWorlds({
    firstSeed: 7,
    length: 20_000,
    processes: 2,
    continues: (begun) => begun < 5,
    lived: (world) => lived.push(world),
  });
  expect(broken).toEqual([]);
  expect(lived.map(({ seed }) => seed).sort()).toEqual([10, 11, 7, 8, 9]);
  const plan = planOf(9, 20_000);
  const { faults, lasted } = await runWorld(plan);
  const cars = plan.cars * lasted;
  const world = lived.find(({ seed }) => seed === 9);
  expect(world).toEqual({ seed: 9, faults, lasted, cars, processor: expect.any(Number), breaches: 0 });
  expect(world?.processor).toBeGreaterThan(0);
});
