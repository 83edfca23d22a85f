/** Retries reading the records while the disk fails to return them: that does not prove that they are damaged. */
import { Backoff } from '../agent/backoff.ts';
import type { Clock, Log } from '../agent/ports.ts';
import { VigieError } from '../protocol/errors.ts';

/** Delays between attempts in ms; about four seconds in total. */
const RETRY = { first: 250, longest: 2_000 } as const;
const MAX_RETRIES = 4;

/** Error for a disk that failed to return stored data. */
export type Unreadable = VigieError & { readonly code: 'store.unreadable' };

export function isUnreadable(error: unknown): error is Unreadable {
  return error instanceof VigieError && error.code === 'store.unreadable';
}

/**
 * Makes the attempt, and retries with increasing delays while it fails with `store.unreadable`.
 * @throws VigieError `store.unreadable` if the last attempt fails; any other error of an attempt immediately
 */
export async function readAgain<T>(
  attempt: () => T | Promise<T>,
  { clock, log }: { readonly clock: Pick<Clock, 'after'>; readonly log: Log },
): Promise<T> {
  const backoff = new Backoff(RETRY);
  for (let retries = 0; ; retries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnreadable(error) || retries === MAX_RETRIES) throw error;
      const ms = backoff.next();
      log.warn('records.rereading', { error: error.message, ms });
      await new Promise<void>((resolve) => void clock.after(ms, resolve));
    }
  }
}
