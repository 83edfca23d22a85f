import type { Log } from '../agent/ports.ts';

/** Ends one thing that was begun. */
export type End = () => Promise<unknown>;

/** Ends it; what goes wrong is said in the log and keeps nothing else from ending. */
export async function quietly(end: End, log: Log): Promise<void> {
  try {
    await end();
  } catch (error) {
    log.error('while stopping', { error: (error as Error).message });
  }
}

/**
 * Lets `begin` put before `ends` how to end each thing that it begins. `stop` ends all of them, the last first. Where
 * `begin` rejects, whatever was begun is ended before this rejects with the same.
 */
export async function beginning<T>(
  log: Log,
  begin: (ends: End[]) => Promise<T>,
): Promise<{ readonly begun: T; readonly stop: () => Promise<void> }> {
  const ends: End[] = [];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0)) await quietly(end, log);
  };
  try {
    return { begun: await begin(ends), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
