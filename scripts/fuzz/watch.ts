/** Runs a campaign in a separate thread, and stops the thread if an input takes too long or needs too much memory. */
import { Worker } from 'node:worker_threads';
import { type FuzzOutcome, type FuzzPlan, inputOf, materialOf, type Tally } from './campaign.ts';
import type { FuzzTarget } from './target.ts';
import type { WorkerTask } from './worker.ts';

interface Limits {
  /** Time limit in ms for one input. */
  readonly time: number;
  /** Limit in MiB for the heap. */
  readonly memory: number;
}

/** Limits for inputs of at most 256 KiB. The time limit is generous, because other load on the machine counts, too. */
export const usualLimits: Limits = { time: 20_000, memory: 512 };

/** Interval between two checks in ms. */
const LOOK = 100;

/** @param table address of the module whose `targets` contain this target */
export function watched(
  table: URL,
  target: FuzzTarget,
  plan: FuzzPlan,
  limits: Limits = usualLimits,
): Promise<FuzzOutcome> {
  const progress = new SharedArrayBuffer(8);
  const view = new Int32Array(progress);
  const task: WorkerTask = { table: table.href, name: target.name, plan, progress };
  const worker = new Worker(new URL('worker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: limits.memory },
  });
  return new Promise((resolve, reject) => {
    let begun = 0;
    let since = performance.now();
    const failed = (reason: string): void => {
      clearInterval(look);
      const number = Atomics.load(view, 0);
      const inputs = Atomics.load(view, 1);
      const tally: Tally = { inputs, accepted: 0, refused: 0, slowest: limits.time, slowestInput: number };
      const input = inputOf(target, materialOf(target, plan.extra), plan.seed, number);
      worker.terminate().then(() => resolve({ tally, failure: { number, reason, input } }), reject);
    };
    const look = setInterval(() => {
      const now = Atomics.load(view, 1);
      if (now !== begun || now === 0) {
        begun = now;
        since = performance.now();
      } else if (performance.now() - since > limits.time) failed(`not done after ${limits.time} ms`);
    }, LOOK);
    worker.on('message', (outcome: FuzzOutcome) => {
      clearInterval(look);
      resolve(outcome);
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') failed(`more than ${limits.memory} MiB of heap`);
      else if (Atomics.load(view, 1) > 0) failed(`thrown outside of the parser's call: ${error.stack}`);
      else {
        clearInterval(look);
        reject(error);
      }
    });
  });
}
