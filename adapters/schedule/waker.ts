import { type Job, scheduleJob } from 'node-schedule';

/** Wall time beyond what a Date can say, UTC ms (ECMA-262 §21.4.1.1). */
const END_OF_TIME = 8.64e15;

/**
 * Calls `due` at a wall-clock moment, UTC ms, however far away: beyond the 24.8 days of one timer, and soon when the
 * moment has passed (node-schedule gives no job for the past and never calls). It is called once, not before the
 * system's clock shows the moment; late when the machine slept or its clock was set forward: who must know of that
 * looks at the clock now and then as well.
 * @returns cancels it; without effect once it was called
 */
export function wakeAt(at: number, due: () => void): () => void {
  const moment = Math.min(at, END_OF_TIME);
  let cancelled = false;
  let job: Job | null = null;
  let soon: NodeJS.Immediate | undefined;
  const set = (): void => {
    // Its timer counts elapsed time: a clock that was set back meanwhile is waited for again.
    const fire = (): void => {
      if (cancelled) return;
      if (Date.now() < moment) set();
      else due();
    };
    job = Date.now() < moment ? scheduleJob(new Date(moment), fire) : null;
    if (job === null) soon = setImmediate(fire);
  };
  set();
  return () => {
    cancelled = true;
    job?.cancel();
    clearImmediate(soon);
  };
}
