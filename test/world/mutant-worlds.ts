/** Process with mutants in its source: runs worlds, and writes a line about each. */
import { defined } from '../../protocol/defined.ts';
import { PART } from './mutants.ts';
import { planOf } from './newest-plan.ts';
import { explore } from './small.ts';
import { runWorld } from './world.ts';

/** Result of the world of a seed, or of small worlds. */
export interface MutantWorld {
  readonly world: number | 'small';
  /** Names of the broken invariants. */
  readonly invariants: readonly string[];
  /** Error, if the world could not run to its end. */
  readonly crash?: string;
  /** Ids of the mutants executed so far. */
  readonly reached: readonly string[];
}

const MINUTES = 10;

interface Stryker {
  readonly mutantCoverage?: { readonly static: object; readonly perTest: Readonly<Record<string, object>> };
}

function say(world: number | 'small', invariants: readonly string[], crash?: string): void {
  const { mutantCoverage } = (globalThis as { __stryker__?: Stryker }).__stryker__ ?? {};
  const reached = [mutantCoverage?.static ?? {}, ...Object.values(mutantCoverage?.perTest ?? {})].flatMap(Object.keys);
  const line: MutantWorld = { world, invariants, reached, ...defined({ crash }) };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function tell(
  world: number | 'small',
  live: () => Promise<readonly { readonly invariant: string }[]>,
): Promise<void> {
  try {
    say(world, [...new Set((await live()).map(({ invariant }) => invariant))]);
  } catch (error) {
    say(world, [], (error as Error).stack);
  }
}

/** Runs some small worlds, and then those of the seeds from 1 on. */
export async function liveThrough(worlds: number): Promise<void> {
  await tell('small', async () => (await explore(PART)).broken.flatMap(({ lived }) => lived.breaches));
  for (let seed = 1; seed <= worlds; seed++) {
    await tell(seed, async () => (await runWorld(planOf(seed, MINUTES * 60_000))).breaches);
  }
}
