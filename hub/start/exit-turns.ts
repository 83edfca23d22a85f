/** Runs an exit while this hub holds its lock. Of the hubs on a database, one holds it. */
import type { Clock, Log } from '../../agent/ports.ts';
import { reasonOf } from '../../protocol/errors.ts';
import type { HubLocks } from '../core/ports.ts';

/** Delay in ms before the next attempt to get the lock or to continue. */
const RETRY_MS = 1_000;

interface ExitTurnsParts {
  /** Name of the exit in the lock and in the log. */
  readonly name: string;
  readonly locks: HubLocks;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs until `ended` resolves: the lock was lost, or the hub stops. Rejects if it cannot continue. */
  readonly run: (ended: Promise<void>) => Promise<void>;
}

/** Starts to wait for the lock. @returns a function that stops the exit, and resolves when it has ended */
export function takeTurns({ name, locks, clock, log, run }: ExitTurnsParts): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  const delay = (): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.after(RETRY_MS, resolve);
      void stopped.then(() => {
        cancel();
        resolve();
      });
    });
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const lock = await locks.acquire(`exit ${name}`, { signal });
        if (lock === undefined) continue;
        try {
          await run(Promise.race([lock.lost.then(() => undefined), stopped]));
        } finally {
          await lock.release();
        }
      } catch (error) {
        if (signal.aborted) return;
        log.warn('hub.exits.failed', { exit: name, error: reasonOf(error) });
        await delay();
      }
    }
  };
  const running = loop();
  return async () => {
    stopping.abort();
    await running;
  };
}
