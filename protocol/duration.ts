/** Whether {@link formatDuration} can represent this number of seconds: at least 0, and small enough to be exact. */
export function isDuration(seconds: number): boolean {
  return seconds >= 0 && seconds <= Number.MAX_SAFE_INTEGER;
}

/**
 * An ISO 8601 duration of hours, minutes and seconds, e.g. `PT1H30M`, the form the interface gives `remainingTime`
 * in. `seconds` is rounded to a whole number, and to 0 when it is negative; {@link isDuration} says what it may be.
 */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [
    [Math.floor(whole / 3600), 'H'],
    [Math.floor((whole % 3600) / 60), 'M'],
    [whole % 60, 'S'],
  ] as const;
  const text = parts.map(([count, unit]) => (count === 0 ? '' : `${count}${unit}`)).join('');
  return text === '' ? 'PT0S' : `PT${text}`;
}
