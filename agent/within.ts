import type { Clock } from './ports.ts';

/** At the end the last acknowledgements of the broker are waited for this long, ms. */
export const FAREWELL = 3_000;

/**
 * Waits for some work, for `patience` ms at most. Rejects as the work does, if that is in time; a later result or error
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
