/** Tables of values (CSV files of phones and data loggers) for `decode` and `replay`. */

import { InvalidArgumentError, Option } from 'commander';
import { contentsOf } from '../adapters/can/log/contents.ts';
import {
  isValueTable,
  openValueTable,
  type ValueLog,
  ValueReadings,
  type ValueRow,
} from '../adapters/can/log/values/index.ts';
import { counted } from '../protocol/counted.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { reportLog } from './log-summary.ts';
import { type Format, type Lines, progressBar } from './output.ts';
import type { FixPlay } from './replay-fixes.ts';

/** Number of rows after which published messages are written. */
const ROWS = 256;

/** Returns the option `--time-zone` of commands that read tables of values. */
export function timeZoneOption(): Option {
  return new Option('--time-zone <name>', 'zone of local times in tables of values (default: UTC)').argParser(
    (name) => {
      try {
        new Intl.DateTimeFormat('en-US', { timeZone: name });
      } catch {
        throw new InvalidArgumentError('write a name such as Europe/Paris.');
      }
      return name;
    },
  );
}

/**
 * Returns true if the file, compressed or not, is a table of values, or an archive that contains one. Always false for
 * standard input, which cannot be read twice. Throws `input.unreadable`.
 */
export async function isValueLog(path: string): Promise<boolean> {
  if (path === '-') return false;
  try {
    for await (const { bytes } of contentsOf(path)) if (await isValueTable(bytes)) return true;
  } catch (error) {
    // The code that opens the file reports its faults.
    if (!(error instanceof VigieError) || error.code !== 'input.malformed') throw error;
  }
  return false;
}

/** Yields the tables in a file in order. Writes a line to standard error for each other file of an archive. */
async function* tablesIn(path: string, zone: string | undefined): AsyncGenerator<{ name: string; log: ValueLog }> {
  for await (const { name, archived, bytes } of contentsOf(path)) {
    try {
      yield { name, log: await openValueTable(bytes, name, defined({ zone })) };
    } catch (error) {
      if (!archived || !(error instanceof VigieError) || error.code !== 'input.malformed') throw error;
      process.stderr.write(`${error.message}; it was left out\n`);
    }
  }
}

/**
 * Prints a line {t, values: {name: number}} for each row. Resolves with the number of rows.
 * Throws `input.unreadable`, `input.malformed`.
 */
export async function decodeValues(
  path: string,
  zone: string | undefined,
  format: Format,
  lines: Lines,
): Promise<number> {
  let rows = 0;
  for await (const { name, log } of tablesIn(path, zone)) {
    const bar = await progressBar(log.size);
    try {
      for await (const row of log.rows()) {
        lines.line(format === 'ndjson' ? ndjson(row, log) : text(row, log));
        if (lines.full) await lines.flush();
        bar.update(log.position, log.frames);
      }
    } finally {
      bar.stop();
    }
    rows += log.frames;
    report(log, name);
  }
  return rows;
}

function given(
  { values }: ValueRow,
  { columns }: ValueLog,
): { signal: string; unit: string | undefined; value: number }[] {
  return columns.flatMap(({ signal, unit }, place) => {
    const value = values[place];
    return value === undefined ? [] : [{ signal, unit, value }];
  });
}

function ndjson(row: ValueRow, log: ValueLog): string {
  const values = given(row, log).map(({ signal, value }) => [signal, value] as const);
  return JSON.stringify({ t: row.at, values: Object.fromEntries(values) });
}

function text(row: ValueRow, log: ValueLog): string {
  const values = given(row, log).map(
    ({ signal, unit, value }) => `${signal}=${value}${unit === undefined ? '' : ` ${unit}`}`,
  );
  return [new Date(row.at).toISOString(), ...values].join(' ');
}

/** Plays the rows as readings that the agent wants. Resolves with their number. Throws as {@link decodeValues}. */
export async function replayValues(path: string, play: FixPlay, zone: string | undefined): Promise<number> {
  let rows = 0;
  for await (const { name, log } of tablesIn(path, zone)) rows += await replayTable(name, log, play);
  return rows;
}

async function replayTable(path: string, log: ValueLog, play: FixPlay): Promise<number> {
  const readings = new ValueReadings(play.agent.wanted, log.columns, play.agent.sink());
  const bar = await progressBar(log.size);
  let last = Number.NEGATIVE_INFINITY;
  let backwards = 0;
  try {
    for await (const row of log.rows()) {
      if (row.at < last) backwards++;
      last = row.at;
      await play.advance(row.at);
      readings.deliver({ ...row, at: Math.max(row.at, play.clock.now()) });
      if (log.frames % ROWS === 0) await play.played();
      bar.update(log.position, log.frames);
    }
    await play.played();
  } finally {
    bar.stop();
  }
  if (backwards > 0)
    process.stderr.write(`${path}: time jumps back ${counted(backwards, 'time')}; order rows by time\n`);
  report(log, path);
  if (!readings.any) {
    const names = log.columns.map(({ signal }) => `VALUES.${signal}`).join(', ');
    process.stderr.write(`${path}: the profile names no column of the table; its columns are ${names}\n`);
  }
  return log.frames;
}

function report(log: ValueLog, path: string): void {
  reportLog(log, path, 'row');
  for (const assumption of log.assumptions) process.stderr.write(`${path}: ${assumption}\n`);
}
