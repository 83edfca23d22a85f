import { afterAll, beforeAll, expect, test } from 'vitest';
import { allMutants, MutantWorlds } from './mutants.ts';

let worlds: MutantWorlds;
beforeAll(async () => {
  worlds = await MutantWorlds.open();
});
afterAll(() => worlds.close());

test.each(allMutants)('an invariant finds that $defect', async (mutant) => {
  const breaches = await worlds.live(mutant, mutant.seed);
  expect(breaches.map(({ invariant }) => invariant)).toContain(mutant.invariant);
});
