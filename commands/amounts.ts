/** Formats amounts for people. */

/** Formats a number of bytes. */
export function size(bytes: number): string {
  if (bytes < 10_000) return `${bytes} B`;
  return bytes < 10 * 2 ** 20 ? `${(bytes / 1024).toFixed(0)} KiB` : `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

/** Formats a duration in ms. */
export function span(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}
