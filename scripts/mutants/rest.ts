/** Judges drawn mutants one by one, and stores the results. */
import type { SeedLedger } from '../../test/world/ledger.ts';

/**
 * @param found resolves with whether an invariant found the mutant, or with undefined if time ran out first, which ends
 * the run
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
