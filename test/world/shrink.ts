/** Leaves out of a world what is not needed for its breach. */
import type { Happening, Plan } from './plan.ts';
import { type Outcome, runWorld } from './world.ts';

/** Worlds that one search may live through. */
const MOST = 150;

/** A plan with fewer happenings, and its outcome, in which the first broken invariant is broken all the same. */
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
  // What comes after the breach did not cause it.
  await attempt(plan.happenings.filter(({ at }) => at <= first.at));
  for (let size = Math.ceil(best.plan.happenings.length / 2); size > 0 && lived < MOST; size = size >> 1) {
    for (let from = 0; from < best.plan.happenings.length && lived < MOST; ) {
      const { happenings } = best.plan;
      if (!(await attempt([...happenings.slice(0, from), ...happenings.slice(from + size)]))) from += size;
    }
  }
  return best;
}
