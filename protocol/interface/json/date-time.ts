/** Cache of recently formatted times: a state that is read repeatedly has the same ones. */
const written = new Map<number, string>();
const MOST = 1_024;

/** Returns an RFC 3339 date-time in UTC, with milliseconds. `at` is UTC ms. */
export function dateTime(at: number): string {
  const known = written.get(at);
  if (known !== undefined) return known;
  const text = new Date(at).toISOString();
  if (written.size >= MOST) written.clear();
  written.set(at, text);
  return text;
}
