/** Topic filters (MQTT 5 clause 4.7). */

/** `$share/{name}/` before the filter of a shared subscription (MQTT 5 clause 4.8.2). */
const SHARE = /^\$share\/[^/]+\//;

/** Returns true if `filter` matches `topic`. `+` matches one level, a final `#` any number of levels including none. */
export function matches(filter: string, topic: string): boolean {
  const wanted = filter.replace(SHARE, '').split('/');
  const levels = topic.split('/');
  // Wildcards in the first level do not match the broker's own topics [MQTT-4.7.2-1].
  if (topic.startsWith('$') && (wanted[0] === '#' || wanted[0] === '+')) return false;
  for (const [i, level] of wanted.entries()) {
    if (level === '#') return true;
    if (i >= levels.length || (level !== '+' && level !== levels[i])) return false;
  }
  return wanted.length === levels.length;
}
