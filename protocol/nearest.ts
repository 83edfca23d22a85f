/** Names that a person may have meant. */

/** Longest compared name: the time of a comparison grows with the square of its length. */
const LONGEST = 128;

/** Returns up to `most` names of `known` that are similar to `name`, most similar first; none if nothing is similar. */
export function nearest(name: string, known: Iterable<string>, most = 3): string[] {
  const wanted = name.toLowerCase().slice(0, LONGEST);
  const reach = Math.max(2, Math.floor(wanted.length / 4));
  const found: { candidate: string; distance: number }[] = [];
  for (const candidate of new Set(known)) {
    const distance = nearness(wanted, candidate.toLowerCase().slice(0, LONGEST), reach);
    if (distance <= reach) found.push({ candidate, distance });
  }
  // The sort is stable: equally similar names keep their order.
  return found
    .sort((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** Returns `did you mean …?`, or undefined if nothing is similar. */
export function suggestion(name: string, known: Iterable<string>): string | undefined {
  const names = nearest(name, known);
  return names.length === 0 ? undefined : `did you mean ${names.join(' or ')}?`;
}

/** Returns the distance of a candidate. A path that ends with the name counts as one letter: people omit the start. */
function nearness(name: string, candidate: string, reach: number): number {
  if (candidate.endsWith(`.${name}`)) return 1;
  if (Math.abs(name.length - candidate.length) > reach) return Number.POSITIVE_INFINITY;
  return editDistance(name, candidate);
}

/** Number of insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
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
