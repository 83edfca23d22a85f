/** Runs worlds of consecutive seeds in several processes until an invariant is broken. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface WorldOfSeed {
  readonly seed: number;
  /** ms */
  readonly length: number;
}

export interface SearchedWorld {
  readonly seed: number;
  readonly faults: number;
  /** World time, ms. */
  readonly lasted: number;
  /** World time of all cars together, ms. */
  readonly cars: number;
  /** Processor time, ms. */
  readonly processor: number;
  /** Number of breaches. */
  readonly breaches: number;
}

export interface SearchParts {
  readonly firstSeed: number;
  /** Length of each world, ms. */
  readonly length: number;
  readonly processes: number;
  /** Whether worlds continue after a breach. */
  readonly all?: boolean;
  /** Whether a seed can be skipped because its world has already run. */
  readonly skips?: (seed: number) => boolean;
  /** Whether another world may begin. */
  readonly continues: (begun: number) => boolean;
  readonly lived: (world: SearchedWorld) => void;
}

/** Most objects of a world are short-lived. With a larger young generation, V8 copies fewer of them. */
const YOUNG = '--max-semi-space-size=32';

/** Seeds of worlds with a breach, in ascending order. Without `all`, no world begins after the first one. */
export async function searchWorlds(parts: SearchParts): Promise<readonly number[]> {
  const { firstSeed, length, processes, all = false, skips = () => false, continues, lived } = parts;
  const broken: number[] = [];
  let begun = 0;
  const work = async (worker: ChildProcess): Promise<void> => {
    const failed = once(worker, 'exit').then(([code]) => {
      throw new Error(`a process of the search ended with exit status ${code}`);
    });
    while (all || broken.length === 0) {
      while (skips(firstSeed + begun) && continues(begun)) begun++;
      if (!continues(begun)) break;
      const answer = once(worker, 'message') as Promise<[SearchedWorld]>;
      worker.send({ seed: firstSeed + begun++, length } satisfies WorldOfSeed);
      const [world] = await Promise.race([answer, failed]);
      lived(world);
      if (world.breaches > 0) broken.push(world.seed);
    }
    failed.catch(() => undefined);
    worker.disconnect();
  };
  const execArgv = [...process.execArgv, YOUNG];
  const workers = Array.from({ length: processes }, () =>
    fork(join(import.meta.dirname, 'search-worker.ts'), { execArgv }),
  );
  try {
    await Promise.all(workers.map(work));
  } finally {
    for (const worker of workers) worker.kill();
  }
  return broken.sort((a, b) => a - b);
}
