import type { Clock } from './ports.ts';

/** At the end the last acknowledgements are waited for this long, ms. */
const FAREWELL = 3_000;

/**
 * Waits for the last work of an agent that stops, but not for a broker that hangs: what it does not acknowledge in time is
 * on disk and goes out after the next start. Rejects as `work` does, if that is in time; later it is nobody's any more.
 */
export async function farewell(work: Promise<void>, clock: Pick<Clock, 'after'>): Promise<void> {
  let cancel: () => void = () => undefined;
  const patience = new Promise<void>((resolve) => {
    cancel = clock.after(FAREWELL, resolve);
  });
  try {
    await Promise.race([work, patience]);
  } finally {
    cancel();
  }
}
