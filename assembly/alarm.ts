/**
 * Same as `wakeAt`. Its scheduler needs calendars and time zones, so it is loaded when the first alarm is set. Most
 * cars never set one, and keep that memory free.
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
