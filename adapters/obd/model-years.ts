/**
 * Model years of a command, as in signal sets: `from` and `to` are inclusive. If `from` is after `to`, the years
 * between them are excluded; `years` adds single years.
 */
export interface ModelYears {
  readonly from?: number;
  readonly to?: number;
  readonly years?: readonly number[];
}

/** Returns true if the filter includes a model year. */
export function includesYear(filter: ModelYears, year: number): boolean {
  if (filter.years?.includes(year) === true) return true;
  const { from, to } = filter;
  if (from !== undefined && to !== undefined) {
    return from < to ? year >= from && year <= to : year >= from || year <= to;
  }
  if (from !== undefined) return year >= from;
  return to !== undefined && year <= to;
}

/** Formats a filter as in command identifiers: `2015-2018`, `-2018;2021`, `2016-;-2013`. */
export function yearsText(filter: ModelYears): string {
  const { from, to } = filter;
  const parts: string[] = [];
  if (from !== undefined && to !== undefined && from < to) parts.push(`${from}-${to}`);
  else {
    if (from !== undefined) parts.push(`${from}-`);
    if (to !== undefined) parts.push(`-${to}`);
  }
  for (const year of [...(filter.years ?? [])].sort((a, b) => a - b)) parts.push(String(year));
  return parts.join(';');
}
