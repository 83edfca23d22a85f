/** Reads, from a table of values, the reference values with which fields of frames are compared. */

import type { Reference } from '../../adapters/can/inspect/index.ts';
import { openValueLog, type ValueLog } from '../../adapters/can/log/values/index.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { suggestion } from '../../protocol/nearest.ts';
import { reportLog } from '../log-summary.ts';

/** Largest number of stored values. When twice as many have been read, every second one is dropped. */
const MOST = 10_000;

/**
 * @param column name of the column; not needed if the table has only one
 * @throws VigieError `usage.wrong` if the table has no such column, `input.malformed` if it is not a table of values
 */
export async function readReference(path: string, column?: string, zone?: string): Promise<Reference> {
  const log = await openValueLog(path, defined({ zone }));
  let times: number[] = [];
  let values: number[] = [];
  let step = 1;
  let seen = 0;
  try {
    let place = log.layout.single === undefined ? placeOf(log, path, column) : -1;
    for await (const row of log.rows()) {
      // In a table with one value per line, columns become known only row by row.
      if (place < 0 && column !== undefined) place = log.columns.findIndex(({ signal }) => signal === column);
      const value = place < 0 ? undefined : row.values[place];
      if (value === undefined || seen++ % step !== 0) continue;
      times.push(row.at);
      values.push(value);
      if (times.length < 2 * MOST) continue;
      times = times.filter((_, i) => i % 2 === 0);
      values = values.filter((_, i) => i % 2 === 0);
      step *= 2;
    }
    if (place < 0) placeOf(log, path, column);
  } finally {
    await log.close();
  }
  reportLog(log, path, 'row');
  if (times.length === 0) throw new VigieError('input.malformed', 'the column has no value', { where: path });
  const order = [...times.keys()].sort((a, b) => times[a]! - times[b]!);
  const { form, start } = log.layout;
  return {
    times: order.map((i) => times[i]!),
    values: order.map((i) => values[i]!),
    // Times that have no known base start at the first frame.
    relative: form.kind === 'elapsed' && start === undefined,
  };
}

function placeOf({ columns }: ValueLog, path: string, column: string | undefined): number {
  const names = columns.map(({ signal }) => signal);
  if (column === undefined) {
    if (names.length === 1) return 0;
    throw new VigieError('usage.wrong', `which column? Give --reference NAME of ${names.join(', ')}`, { where: path });
  }
  const place = names.indexOf(column);
  if (place >= 0) return place;
  const hint = suggestion(column, names) ?? `it has ${names.join(', ')}`;
  throw new VigieError('usage.wrong', `no column ${column}: ${hint}`, { where: path });
}
