/** Thread that runs inputs, so that {@link watched} can stop it if an input never ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { campaign, type FuzzPlan } from './campaign.ts';
import type { FuzzTarget } from './target.ts';

export interface WorkerTask {
  /** Module with the table of `targets`. */
  readonly table: string;
  readonly name: string;
  readonly plan: FuzzPlan;
  /** Number of the current input, and the number of started inputs. */
  readonly progress: SharedArrayBuffer;
}

const task = workerData as WorkerTask;
const { targets } = (await import(task.table)) as { readonly targets: readonly FuzzTarget[] };
const target = targets.find(({ name }) => name === task.name);
if (target === undefined) throw new Error(`no fuzz target ${task.name}`);
const progress = new Int32Array(task.progress);
const outcome = await campaign(target, task.plan, (number) => {
  Atomics.store(progress, 0, number);
  Atomics.add(progress, 1, 1);
});
parentPort?.postMessage(outcome);
