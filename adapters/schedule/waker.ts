import { type Job, scheduleJob } from 'node-schedule';

/** Latest wall time in UTC ms that a Date can represent (ECMA-262 §21.4.1.1). */
const END_OF_TIME = 8.64e15;

/**
 * Calls `due` at a wall-clock time in UTC ms, however far ahead: also beyond the 24.8 days of one timer, and promptly
 * if the time has passed (node-schedule returns no job for the past and never calls). Calls once, not before the
 * system's clock shows the time; late if the machine slept or its clock was set forward: code that must react to that
 * has to check the clock periodically as well.
 * @returns a function that cancels the call; it has no effect after the call
 */
export function wakeAt(at: number, due: () => void): () => void {
  const moment = Math.min(at, END_OF_TIME);
  let cancelled = false;
  let job: Job | null = null;
  let soon: NodeJS.Immediate | undefined;
  const set = (): void => {
    // The job's timer counts elapsed time: if the clock was set back in the meantime, wait again.
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
