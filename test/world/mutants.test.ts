import { afterAll, beforeAll, expect, test } from 'vitest';
import { runs } from '../rig/runs.ts';
import { MutantWorlds, mutants, newestMutants, rareMutants, wideMutants } from './mutants.ts';

let worlds: MutantWorlds;
beforeAll(async () => {
  worlds = await MutantWorlds.open();
});
afterAll(() => worlds.close());

const wider = [...wideMutants, ...rareMutants, ...newestMutants];

test.each([...mutants, ...wider.slice(0, runs(0, wider.length))])('an invariant finds that $defect', async (mutant) => {
  const breaches = await worlds.live(mutant, mutant.seed);
  expect(breaches.map(({ invariant }) => invariant)).toContain(mutant.invariant);
});
