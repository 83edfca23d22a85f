/** Readings in files that `vigie export` wrote, as texts that tests can compare as sets. */

/** @param at time in UTC ms */
export function textOfReading(path: string, at: number, value: unknown): string {
  return `${path} ${at} ${String(value)}`;
}

/** Returns the readings in rows of named cells, sorted. */
export function readingsOfRows(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  return rows
    .flatMap((row) => {
      const { time: _, 'time [ms]': at, ...cells } = row;
      return Object.entries(cells)
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([header, value]) => textOfReading(header.replace(/ \[.*\]$/, ''), Number(at), value));
    })
    .sort();
}

/** Returns the rows of a CSV file; cells with commas are quoted. */
export function csvRows(text: string): Record<string, string>[] {
  const [header = [], ...rows] = text
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/).map((cell) => cell.replace(/^"(.*)"$/, '$1')));
  return rows.map((cells) => Object.fromEntries(cells.map((cell, i) => [header[i], cell])));
}
