/** Removes events from a world that its breach does not need. */
import type { Happening, Plan } from './plan.ts';
import { type Outcome, runWorld } from './world.ts';

/** Maximum number of worlds that one search may run. */
const MOST = 150;

/** A plan with fewer events in which the first broken invariant is still broken, and its outcome. */
export async function shrink(
  plan: Plan,
  outcome: Outcome,
): Promise<{ readonly plan: Plan; readonly outcome: Outcome }> {
  const [first] = outcome.breaches;
  if (first === undefined) return { plan, outcome };
  let best = { plan, outcome };
  let lived = 0;
  const attempt = async (happenings: readonly Happening[]): Promise<boolean> => {
    lived++;
    const shorter = { ...plan, happenings, length: (happenings.at(-1)?.at ?? 0) + 60_000 };
    const result = await runWorld(shorter);
    if (!result.breaches.some(({ invariant }) => invariant === first.invariant)) return false;
    best = { plan: shorter, outcome: result };
    return true;
  };
  // Events after the breach did not cause it.
  await attempt(plan.happenings.filter(({ at }) => at <= first.at));
  for (let size = Math.ceil(best.plan.happenings.length / 2); size > 0 && lived < MOST; size = size >> 1) {
    for (let from = 0; from < best.plan.happenings.length && lived < MOST; ) {
      const { happenings } = best.plan;
      if (!(await attempt([...happenings.slice(0, from), ...happenings.slice(from + size)]))) from += size;
    }
  }
  return best;
}
