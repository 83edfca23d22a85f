import type { Log } from '../agent/ports.ts';

/** Ends something that was started. */
export type Teardown = () => Promise<unknown>;

/** Calls `end` and logs its error, so that all other teardowns still run. */
export async function quietly(end: Teardown, log: Log): Promise<void> {
  try {
    await end();
  } catch (error) {
    log.error('agent.stopFailed', { error: (error as Error).message });
  }
}

/**
 * Runs `begin`, which prepends the function that ends each started thing to `teardowns`. `stop` calls them in order.
 * If `begin` rejects, ends everything that was started, then rejects with the same error.
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
