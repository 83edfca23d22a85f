/**
 * SQLite databases in the format of python-can (can.io.sqlite): a table `messages` of
 *
 *     ts REAL (seconds), arbitration_id, extended, remote, error, dlc INTEGER, data BLOB
 *
 * They contain no bus names, and FD frames are recognised only by more than 8 bytes. Rows are read in the order of
 * writing, one after the other: the database is never loaded into memory.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { EXTENDED, FD, REMOTE } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { hexDigit } from './fields.ts';
import type { FrameFile } from './format.ts';
import type { LogFile } from './input.ts';
import { busError, identifier, MAX_PAYLOAD_BYTES, type Recording } from './recording.ts';

/** Columns that a table of frames must have. The others are optional. */
const needed: readonly string[] = ['ts', 'arbitration_id', 'data'];
/** Row number below all rows that are read in blocks. */
const LOWEST = -(2 ** 63);
const TWO_32 = 4_294_967_296;
/** Flags in the second value of a row, above the identifier's 29 bits; `dlc` follows from bit 32. */
const IS_EXTENDED = 0x2000_0000;
const IS_REMOTE = 0x4000_0000;
const IS_ERROR = 0x8000_0000;

/** Number of rows per query. One call for many rows takes a third of the time of one call per row. */
const BLOCK = 2048;
/** Names of the row number. A table may use some of them for its own columns. */
const rowNumbers = ['rowid', '_rowid_', 'oid'];

/** Seconds, identifier with flags and length, bytes as hexadecimal digits, and in a block the row number. */
type Row = readonly [number | null, number | null, string, number?];

export async function openSqlite(file: LogFile, recording: Recording): Promise<FrameFile> {
  const where = recording.file;
  const { DatabaseSync } = await sqlite(where);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file.path, { readOnly: true });
    // Do not execute code from the database.
    database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON');
    return new Rows(database, tableOf(database, where), file.size, recording);
  } catch (error) {
    database?.close();
    if (error instanceof VigieError) throw error;
    throw new VigieError('input.malformed', `the SQLite database cannot be read: ${(error as Error).message}`, {
      where,
    });
  }
}

async function sqlite(where: string): Promise<typeof import('node:sqlite')> {
  try {
    return await import('node:sqlite');
  } catch (cause) {
    const version = process.versions.node;
    const what = `it is an SQLite database, which Node ${version} cannot read: use Node 22.13 or newer`;
    throw new VigieError('input.malformed', what, { where, cause });
  }
}

interface Table {
  readonly name: string;
  readonly columns: ReadonlySet<string>;
}

function tableOf(database: DatabaseSync, where: string): Table {
  // Views and virtual tables could compute forever.
  const list =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' ORDER BY name = 'messages' DESC";
  const names = database
    .prepare(list)
    .all()
    .map(({ name }) => String(name));
  for (const name of names) {
    const rows = database.prepare('SELECT name FROM pragma_table_info(?)').all(name);
    const columns = new Set(rows.map((row) => String(row['name']).toLowerCase()));
    if (needed.every((column) => columns.has(column))) return { name, columns };
  }
  const tables = names.length === 0 ? 'no tables' : `the tables ${names.slice(0, 10).join(', ')}`;
  const what = `the SQLite database has no table of CAN frames (with the columns ${needed.join(', ')}); it has ${tables}`;
  throw new VigieError('input.malformed', what, { where });
}

class Rows implements FrameFile {
  readonly #database: DatabaseSync;
  readonly #table: Table;
  readonly #recording: Recording;
  readonly #size: number;
  /** The highest row number; undefined for a table without row numbers, or with numbers that are not safe integers. */
  readonly #last: number | undefined;
  readonly #blocks: StatementSync | undefined;
  #block: readonly Row[] = [];
  #place = 0;
  /** Number of the last row in the block. */
  #number = LOWEST;
  /** Iterator over single rows, if blocks are not possible. */
  #rows: Iterator<Row> | undefined;
  #count = 0;
  #ended = false;

  constructor(database: DatabaseSync, table: Table, size: number, recording: Recording) {
    this.#database = database;
    this.#recording = recording;
    this.#size = size;
    this.#table = table;
    this.#last = lastRow(database, table);
    const query = blockQueryOf(table);
    if (this.#last !== undefined && query !== undefined) this.#blocks = arraysOf(database, query);
    else this.#rows = arraysOf(database, queryOf(table)).iterate() as unknown as Iterator<Row>;
  }

  /** Position estimated from row numbers. */
  get position(): number {
    return this.#ended ? this.#size : Math.floor(this.#size * Math.min(1, this.#count / Math.max(1, this.#last ?? 0)));
  }

  async fill(): Promise<boolean> {
    const recording = this.#recording;
    while (!this.#ended && !recording.full) {
      const row = this.#next();
      if (row === undefined) return false;
      this.#count++;
      const fault = this.#add(row);
      if (fault !== undefined) recording.fault(0, `row ${this.#count}: ${fault}`, fault);
    }
    return !this.#ended;
  }

  close(): void {
    this.#database.close();
  }

  #next(): Row | undefined {
    const next = this.#block[this.#place++];
    if (next !== undefined) return next;
    try {
      const row = this.#nextOfTable();
      if (row !== undefined) return row;
    } catch (error) {
      const reason = 'the SQLite database is damaged';
      const what = `${reason}: ${(error as Error).message}; nothing behind row ${this.#count} can be read`;
      this.#recording.fault(0, what, reason);
    }
    this.#ended = true;
    return undefined;
  }

  #nextOfTable(): Row | undefined {
    const blocks = this.#blocks;
    if (blocks !== undefined && this.#rows === undefined) {
      try {
        this.#block = blocks.all(this.#number) as unknown as readonly Row[];
        this.#place = 1;
      } catch {
        // Read rows before damaged data one by one.
        const rest = arraysOf(this.#database, `${queryOf(this.#table)} WHERE ${rowNumberOf(this.#table)} > ?`);
        this.#rows = rest.iterate(this.#number) as unknown as Iterator<Row>;
        this.#block = [];
      }
    }
    if (this.#rows !== undefined) {
      const { value, done } = this.#rows.next();
      return done === true ? undefined : value;
    }
    const last = this.#block.at(-1)?.[3] ?? this.#number;
    if (this.#block.length > 0 && last <= this.#number) throw new Error('its row numbers do not grow');
    this.#number = last;
    if (this.#block.length === 0) this.#compareCount();
    return this.#block[0];
  }

  /** Compares the number of rows read with the row count: a row with a damaged number hides others from a search. */
  #compareCount(): void {
    const row = this.#database.prepare(`SELECT count(*) AS n FROM ${quoted(this.#table.name)}`).get();
    if (Number(row?.['n']) !== this.#count) throw new Error(`it has ${row?.['n']} rows`);
  }

  #add([seconds, key, bytes]: Row): string | undefined {
    const recording = this.#recording;
    if (seconds === null) return 'there is no time';
    if (key === null) return 'there is no identifier of 29 bits, or no length';
    const bus = recording.unnamed();
    // Round to microseconds, the resolution of a double with today's seconds.
    const at = Math.round(seconds * 1_000_000) / 1000;
    if ((key & IS_ERROR) !== 0) {
      recording.addEmpty(at, busError, bus, 0, 8);
      return undefined;
    }
    const id = identifier(key & 0x1fff_ffff, (key & IS_EXTENDED) !== 0);
    const said = Math.floor(key / TWO_32);
    if ((key & IS_REMOTE) !== 0) {
      recording.addEmpty(at, (id | REMOTE) >>> 0, bus, 0, Math.min(8, said));
      return undefined;
    }
    const length = bytes.length >> 1;
    if (length > MAX_PAYLOAD_BYTES) return 'more than 64 bytes of data';
    if (length < said) return 'fewer bytes than the length says';
    const { payload } = recording;
    for (let i = 0; i < length; i++) {
      payload[i] =
        ((hexDigit[bytes.charCodeAt(2 * i)] as number) << 4) | (hexDigit[bytes.charCodeAt(2 * i + 1)] as number);
    }
    recording.add(at, id, bus, length > 8 ? FD : 0, length);
    return undefined;
  }
}

function arraysOf(database: DatabaseSync, query: string): StatementSync {
  const statement = database.prepare(query);
  statement.setReturnArrays(true);
  return statement;
}

/** Returns the name by which the row number of a table can be read. */
function rowNumberOf({ columns }: Table): string | undefined {
  return rowNumbers.find((name) => !columns.has(name));
}

function blockQueryOf(table: Table): string | undefined {
  const number = rowNumberOf(table);
  if (number === undefined) return undefined;
  return `${queryOf(table, `, ${number}`)} WHERE ${number} > ? ORDER BY ${number} LIMIT ${BLOCK}`;
}

/** Returns a query with few values per row and no objects: creating JavaScript values is what costs time. */
function queryOf({ name, columns }: Table, further = ''): string {
  const flag = (column: string, bit: number): string => (columns.has(column) ? `| ((${column} <> 0) << ${bit})` : '');
  const length = columns.has('dlc') ? '| (dlc << 32)' : '';
  const valid = `arbitration_id BETWEEN 0 AND ${EXTENDED / 4 - 1}${columns.has('dlc') ? ' AND dlc BETWEEN 0 AND 255' : ''}`;
  const id = `arbitration_id ${flag('extended', 29)} ${flag('remote', 30)} ${flag('error', 31)} ${length}`;
  // Ignore text in place of a time.
  const time = "CASE WHEN typeof(ts) IN ('real', 'integer') THEN CAST(ts AS REAL) END";
  const bytes = `hex(substr(data, 1, ${MAX_PAYLOAD_BYTES + 1}))`;
  return `SELECT ${time}, CASE WHEN ${valid} THEN ${id} END, ${bytes}${further} FROM ${quoted(name)}`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the last row number; undefined for a table without row numbers, or if it is not a safe integer. */
function lastRow(database: DatabaseSync, table: Table): number | undefined {
  const number = rowNumberOf(table);
  if (number === undefined) return undefined;
  try {
    const ends = [`min(${number})`, `max(${number})`].map((end) => {
      return Number(database.prepare(`SELECT CAST(${end} AS TEXT) AS n FROM ${quoted(table.name)}`).get()?.['n'] ?? 0);
    });
    return ends.every(Number.isSafeInteger) ? ends[1] : undefined;
  } catch {
    // The table has no row numbers, or is damaged, which reading its rows reports.
    return undefined;
  }
}
