/** Records of one car as the interface reads them: unpacked from the messages that have their present form. */
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { shiftInstants } from '../../protocol/instants.ts';
import { bodies } from '../../protocol/schema/message.ts';
import type { SqliteDatabase, SqliteRow } from './sqlite.ts';

/** A record, its time and its id, as `StoredRecord` of the car's core has them. */
export interface HubRecord {
  readonly id: string;
  /** UTC ms */
  readonly at: number;
  readonly record: unknown;
}

const COLUMNS = `SELECT records.id, records.at, records.message, messages.clock, corrections.behind FROM records
  JOIN vehicles ON vehicles.id = records.vehicle JOIN messages ON messages.id = records.message
  LEFT JOIN corrections ON corrections.vehicle = records.vehicle AND corrections.boot = records.boot
  WHERE vehicles.vin = ? AND records.collection = ?`;

export class RecordReader {
  readonly #database: SqliteDatabase;
  readonly #vin: string;

  constructor(database: SqliteDatabase, vin: string) {
    this.#database = database;
    this.#vin = vin;
  }

  get(collection: string, id: string): HubRecord | undefined {
    const row = this.#database.one(`${COLUMNS} AND records.id = ?`, this.#vin, collection, id);
    return row === undefined ? undefined : this.#read(row);
  }

  /** Records with `from` ≤ at < `to`, ascending by time, then by id; each is unpacked when it is taken. */
  *list(collection: string, from?: number, to?: number): Generator<HubRecord, void, undefined> {
    const rows = this.#database.all(
      `${COLUMNS} AND records.at >= ? AND records.at < ? ORDER BY records.at, records.id`,
      this.#vin,
      collection,
      bound(from, Number.MIN_SAFE_INTEGER),
      bound(to, Number.MAX_SAFE_INTEGER),
    );
    for (const row of rows) yield this.#read(row);
  }

  #read(row: SqliteRow): HubRecord {
    const { payload } = this.#database.one('SELECT payload FROM messages WHERE id = ?', row['message'] as number) as {
      payload: Uint8Array;
    };
    const { kind, body } = decodeMessage(payload);
    const behind = row['clock'] === 'none' ? (row['behind'] as number | null) : null;
    return {
      id: row['id'] as string,
      at: row['at'] as number,
      record: behind === null ? body : shiftInstants(bodies[kind], body, behind),
    };
  }
}

/** Columns are whole numbers. */
function bound(at: number | undefined, otherwise: number): number {
  return at === undefined || !Number.isFinite(at) ? otherwise : Math.ceil(at);
}
