/** Names that a person may have meant. */

/** Letters that are compared: the time of a comparison grows with their square. */
const LONGEST = 128;

/** Up to `most` of `known` that are close to `name`, closest first; none when nothing is close. */
export function nearest(name: string, known: Iterable<string>, most = 3): string[] {
  const wanted = name.toLowerCase().slice(0, LONGEST);
  const reach = Math.max(2, Math.floor(wanted.length / 4));
  const found: { candidate: string; distance: number }[] = [];
  for (const candidate of new Set(known)) {
    const distance = nearness(wanted, candidate.toLowerCase().slice(0, LONGEST), reach);
    if (distance <= reach) found.push({ candidate, distance });
  }
  // The sort is stable: names equally close stay in the order of the list they came from.
  return found
    .sort((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** `did you mean …?` or undefined when nothing is close. */
export function suggestion(name: string, known: Iterable<string>): string | undefined {
  const names = nearest(name, known);
  return names.length === 0 ? undefined : `did you mean ${names.join(' or ')}?`;
}

/** A path that ends with the name is as close as one letter: people omit the beginning. */
function nearness(name: string, candidate: string, reach: number): number {
  if (candidate.endsWith(`.${name}`)) return 1;
  if (Math.abs(name.length - candidate.length) > reach) return Number.POSITIVE_INFINITY;
  return editDistance(name, candidate);
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (beforeLast[column - 2] as number) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] as number;
}
