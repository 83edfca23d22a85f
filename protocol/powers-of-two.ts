/**
 * Returns true if a count that rose from `before` to `after` reached a power of two. Events that repeat for days are
 * logged at these counts, so that they do not fill the log.
 */
export function reachesPowerOfTwo(before: number, after: number): boolean {
  return Math.floor(Math.log2(after)) > Math.floor(Math.log2(before));
}
