import type { Clock } from './ports.ts';

/** Longest wait in ms for the last acknowledgements of the broker at the end. */
export const FAREWELL = 3_000;

/**
 * Waits for `work`, at most `patience` ms. Rejects if the work rejects in time; a later result or error
 * is ignored.
 */
export async function within(patience: number, work: Promise<unknown>, clock: Pick<Clock, 'after'>): Promise<void> {
  let cancel: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    cancel = clock.after(patience, resolve);
  });
  try {
    await Promise.race([work, over]);
  } finally {
    cancel();
  }
}
