/** Edits (insert, delete, replace) that turn one name into the other, case apart (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}

/** Up to three of `names` a person may have meant by `name`, the likeliest first. */
export function nearest(name: string, names: Iterable<string>): string[] {
  const wanted = name.toLowerCase().slice(0, 128);
  const most = Math.max(2, Math.floor(wanted.length / 3));
  const found: { name: string; edits: number }[] = [];
  for (const candidate of new Set(names)) {
    const lower = candidate.toLowerCase().slice(0, 128);
    if (Math.abs(lower.length - wanted.length) > most) continue;
    const edits = distance(wanted, lower);
    if (edits <= most) found.push({ name: candidate, edits });
  }
  found.sort((a, b) => a.edits - b.edits || (a.name < b.name ? -1 : 1));
  return found.slice(0, 3).map((entry) => entry.name);
}
