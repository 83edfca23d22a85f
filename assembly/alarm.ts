/**
 * Same as `wakeAt`, whose scheduler needs calendars and time zones. Loads it when the first alarm is set, because most
 * cars never set one and save the memory.
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
