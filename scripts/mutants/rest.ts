/** Goes through drawn mutants one by one, and keeps how each ended. */
import type { SeedLedger } from '../../test/world/ledger.ts';

/**
 * @param found whether an invariant found the mutant; undefined: the time is over before that is known, which ends the run
 */
export async function judgeRest<M extends { readonly place: number }>(
  mutants: readonly M[],
  ledger: SeedLedger,
  found: (mutant: M) => Promise<boolean | undefined>,
): Promise<void> {
  for (const mutant of mutants) {
    const isFound = await found(mutant);
    if (isFound === undefined) return;
    ledger.add(mutant.place, !isFound);
    ledger.write();
  }
}
