/**
 * Similar records, such as the points of a route, as columns of numbers (numbers.ts). A record is a map from the
 * integer keys of its members to integers, as in the CBOR codec.
 *
 *     records                  number of records
 *     members                  number of different keys
 *     for each member:
 *       key
 *       runs                   lengths of runs of records with it, without it, with it, … up to the last record
 *       step                   common divisor of all differences, at least 1       ┐
 *       first value            signed                                              ├ only if a record has it
 *       differences            in steps, signed, of all that have it but the first ┘
 */
import { type NumberReader, NumberWriter, REACH } from './numbers.ts';
import { stepOf } from './steps.ts';

type Row = ReadonlyMap<number, number>;

/** Maximum number of records in one message. */
export const ROWS: number = 1 << 14;

/** Encodes records. Returns undefined if a value is not an integer within ±2^51, or if there are too many records. */
export function columnsOfRows(rows: readonly ReadonlyMap<unknown, unknown>[]): Uint8Array | undefined {
  if (rows.length > ROWS || !rows.every(isRow)) return undefined;
  const keys = [...new Set(rows.flatMap((row) => [...row.keys()]))].sort((a, b) => a - b);
  const writer = new NumberWriter();
  writer.unsigned(rows.length);
  writer.unsigned(keys.length);
  for (const key of keys) {
    writer.unsigned(key);
    for (const run of runsOf(rows, key)) writer.unsigned(run);
    const values = rows.map((row) => row.get(key)).filter((value) => value !== undefined);
    const step = stepOf(values);
    writer.unsigned(step);
    writer.signed(values[0]!);
    for (let i = 1; i < values.length; i++) writer.signed((values[i]! - values[i - 1]!) / step);
  }
  return writer.written;
}

function isRow(row: ReadonlyMap<unknown, unknown>): row is Row {
  return [...row].every(([key, value]) => isWithin(key) && (key as number) >= 0 && isWithin(value));
}

function isWithin(value: unknown): boolean {
  return Number.isInteger(value) && Math.abs(value as number) <= REACH;
}

function runsOf(rows: readonly Row[], key: number): number[] {
  const runs = [0];
  let present = true;
  for (const row of rows) {
    if (row.has(key) !== present) {
      present = !present;
      runs.push(0);
    }
    runs[runs.length - 1]!++;
  }
  return runs;
}

/**
 * Reads the output of {@link columnsOfRows}. Checks the number of records before it allocates memory for them.
 * @throws VigieError `message.malformed` for anything else
 */
export function rowsOfColumns(reader: NumberReader): Map<number, number>[] {
  const size = reader.unsigned();
  const members = reader.unsigned();
  if (size > ROWS) throw reader.fault(`promise ${size} records; at most ${ROWS} allowed`);
  if (members > reader.left) throw reader.fault('promise more than there is');
  const rows = Array.from({ length: size }, () => new Map<number, number>());
  for (let member = 0; member < members; member++) {
    const key = reader.unsigned();
    const having = readRuns(rows, reader);
    const step = having.length === 0 ? 1 : reader.unsigned();
    if (step === 0) throw reader.fault('have a step of 0');
    let value = 0;
    for (const [index, row] of having.entries()) {
      value += reader.signed() * (index === 0 ? 1 : step);
      if (Math.abs(value) > REACH) throw reader.fault('have a value beyond 2^51');
      if (row.has(key)) throw reader.fault(`have the member ${key} twice`);
      row.set(key, value);
    }
  }
  if (reader.left > 0) throw reader.fault('go on behind their end');
  return rows;
}

/** Returns the records that have the current member. */
function readRuns(rows: readonly Map<number, number>[], reader: NumberReader): Map<number, number>[] {
  const having: Map<number, number>[] = [];
  let told = 0;
  for (let present = true; told < rows.length; present = !present) {
    const run = reader.unsigned();
    if (run > rows.length - told) throw reader.fault(`tell of more than ${rows.length} records`);
    if (present) having.push(...rows.slice(told, told + run));
    told += run;
  }
  return having;
}
