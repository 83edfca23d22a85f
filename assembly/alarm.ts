/**
 * As `wakeAt`, whose scheduler brings calendars and time zones with it: they are loaded with the first moment that is
 * waited for. Most cars never wait for one, and have the memory for other things.
 */
export function setAlarm(at: number, due: () => void): () => void {
  let cancelled = false;
  let cancel = (): void => {
    cancelled = true;
  };
  void import('../adapters/schedule/index.ts').then(({ wakeAt }) => {
    if (!cancelled) cancel = wakeAt(at, due);
  });
  return () => cancel();
}
