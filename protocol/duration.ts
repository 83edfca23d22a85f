/** Returns true if {@link formatDuration} can represent these seconds: at least 0, and exactly representable. */
export function isDuration(seconds: number): boolean {
  return seconds >= 0 && seconds <= Number.MAX_SAFE_INTEGER;
}

/**
 * Returns an ISO 8601 duration of hours, minutes and seconds, e.g. `PT1H30M`, the format of `remainingTime` in the
 * interface. Rounds `seconds` to a whole number, negative ones to 0; see {@link isDuration} for the valid range.
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
