import type { Log } from '../agent/ports.ts';

/** Ends one thing that was begun. */
export type Teardown = () => Promise<unknown>;

/** Ends it; what goes wrong is said in the log and keeps nothing else from ending. */
export async function quietly(end: Teardown, log: Log): Promise<void> {
  try {
    await end();
  } catch (error) {
    log.error('agent.stopFailed', { error: (error as Error).message });
  }
}

/**
 * Lets `begin` register at the front of `teardowns` how to end each thing that it begins. `stop` runs them in this order. Where
 * `begin` rejects, whatever was begun is ended before this rejects with the same.
 */
export async function withTeardown<T>(
  log: Log,
  begin: (teardowns: Teardown[]) => Promise<T>,
): Promise<{ readonly begun: T; readonly stop: () => Promise<void> }> {
  const teardowns: Teardown[] = [];
  const stop = async (): Promise<void> => {
    for (const end of teardowns.splice(0)) await quietly(end, log);
  };
  try {
    return { begun: await begin(teardowns), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
