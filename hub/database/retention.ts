/** Removes old messages, in the SQL that SQLite and PostgreSQL share. */

import { decodeMessage } from '../../protocol/cbor/message.ts';
import { classOf } from '../../protocol/classes.ts';
import { type Kind, kinds, recordKinds } from '../../protocol/schema/kind.ts';
import type { KeptKind, RetentionPlace, RetentionStore } from '../core/retention.ts';
import { chunks } from './event-deliveries.ts';
import { countLost } from './exits.ts';
import type { RegistryDatabase, SqlStatement } from './registry.ts';
import { clockNumber, kindNumber, type SqlRow, type SqlValue } from './rows.ts';

/** Number of messages in one commit. */
const BATCH = 500;
/** Number of rows of readings in one commit. */
const READINGS = 10_000;
const START: RetentionPlace = { second: Number.MIN_SAFE_INTEGER, id: 0 };
/** Number of newest messages of each kind that confirm the clock of the hub. */
const WITNESSES = 10;

const ofRecords: ReadonlySet<Kind> = new Set(recordKinds);
const UNTIMED = clockNumber('none');

/** Clause to lock the rows of a query, for a database with several writers. */
type RowLock = 'FOR UPDATE' | '';

export class SqlRetention implements RetentionStore {
  readonly #database: Pick<RegistryDatabase, 'select' | 'erase'>;
  readonly #lock: RowLock;

  constructor(database: Pick<RegistryDatabase, 'select' | 'erase'>, lock: RowLock) {
    this.#database = database;
    this.#lock = lock;
  }

  async confirms(now: number, tolerance: number): Promise<boolean> {
    const sql = `SELECT at, clock, received FROM messages WHERE class = ? AND kind = ?
      ORDER BY received / 1000 DESC LIMIT ${WITNESSES}`;
    for (const kind of kinds) {
      const newest = await this.#database.select(sql, classOf(kind), kindNumber(kind));
      const one = newest.some(({ at, clock, received }) => {
        const [made, came] = [at as number, received as number];
        return clock !== UNTIMED && Math.abs(came - made) < tolerance && Math.abs(now - came) < tolerance;
      });
      if (one) return true;
    }
    return false;
  }

  async removeBefore(
    kind: KeptKind,
    before: number,
    place: RetentionPlace = START,
  ): Promise<{ readonly removed: number; readonly next?: RetentionPlace }> {
    if (kind === 'reading') return this.#removeReadings(before);
    const more = ofRecords.has(kind) ? ', payload' : kind === 'event' ? `, ${WAITS} AS waits` : '';
    const rows = await this.#database.select(
      `SELECT id, vehicle, received / 1000 AS second, boot, seq${more} FROM messages
       WHERE class = ? AND kind = ? AND received / 1000 <= ? AND received < ? AND (received / 1000, id) > (?, ?)
       ORDER BY received / 1000, id LIMIT ${BATCH}`,
      classOf(kind),
      kindNumber(kind),
      Math.floor(before / 1000),
      before,
      place.second,
      place.id,
    );
    const removed = await this.#remove(kind, rows);
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return { removed };
    return { removed, next: { second: last['second'] as number, id: last['id'] as number } };
  }

  /** PostgreSQL drops partitions instead, and has no `rowid`. */
  async #removeReadings(before: number): ReturnType<RetentionStore['removeBefore']> {
    const [removed = []] = await this.#database.erase([
      [
        `DELETE FROM readings WHERE rowid IN (SELECT rowid FROM readings WHERE received < ? ORDER BY received LIMIT ${READINGS})
         RETURNING 1 AS n`,
        before,
      ],
    ]);
    return { removed: removed.length, ...(removed.length === READINGS && { next: START }) };
  }

  /** Removes messages. Resolves with the number of removed messages. */
  async #remove(kind: Kind, rows: readonly SqlRow[]): Promise<number> {
    const keys: SqlValue[][] = [];
    const records: SqlValue[][] = [];
    for (const row of rows) {
      const [id, vehicle] = [row['id'] as number, row['vehicle'] as number];
      const record = recordIn(kind, row);
      if (row['waits'] || (record?.active === true && (await this.#isNewest(kind, record.id, row)))) continue;
      keys.push([vehicle, classOf(kind), row['seq'] as number, row['boot'] as number]);
      if (record !== undefined) records.push([vehicle, kind, record.id, id]);
    }
    if (keys.length === 0) return 0;
    const parts = [...chunks(keys)];
    const results = await this.#database.erase([
      ...this.#locking([...new Set(rows.map((row) => row['vehicle'] as number))]),
      // Keep a record if a newer message contains it.
      ...[...chunks(records)].map((part): SqlStatement => {
        const values = part.map(() => '(CAST(? AS bigint), ?, ?, CAST(? AS bigint))').join(', ');
        return [`DELETE FROM records WHERE (vehicle, collection, id, message) IN (VALUES ${values})`, ...part.flat()];
      }),
      ...(kind === 'telemetry' ? parts : []).map((part): SqlStatement => {
        const values = part.map(() => `(${MARKS})`).join(', ');
        const lost = `SELECT id FROM messages WHERE kind = ? AND (vehicle, class, seq, boot) IN (VALUES ${values})`;
        return [countLost(lost), kindNumber(kind), ...part.flat()];
      }),
      ...parts.map((part): SqlStatement => {
        const values = part.map(() => `(${MARKS})`).join(', ');
        return [
          `DELETE FROM messages WHERE kind = ? AND (vehicle, class, seq, boot) IN (VALUES ${values}) RETURNING id`,
          kindNumber(kind),
          ...part.flat(),
        ];
      }),
    ]);
    const removed = results.slice(-parts.length);
    return removed.reduce((sum, { length }) => sum + length, 0);
  }

  async #isNewest(kind: Kind, id: string, row: SqlRow): Promise<boolean> {
    const sql = 'SELECT 1 FROM records WHERE vehicle = ? AND collection = ? AND id = ? AND message = ?';
    const found = await this.#database.select(sql, row['vehicle'] as number, kind, id, row['id'] as number);
    return found.length > 0;
  }

  /** Locks cars in the same order as hubs that store messages, so that they cannot deadlock. */
  #locking(vehicles: readonly number[]): SqlStatement[] {
    if (this.#lock === '') return [];
    const marks = vehicles.map(() => '?').join(', ');
    return [[`SELECT id FROM vehicles WHERE id IN (${marks}) ORDER BY vin ${this.#lock}`, ...vehicles]];
  }
}

const MARKS = ['int', 'smallint', 'int', 'bigint'].map((type) => `CAST(? AS ${type})`).join(', ');
const WAITS = 'EXISTS (SELECT 1 FROM deliveries WHERE vehicle = messages.vehicle AND message = messages.id)';

/** Returns the record in a message of this kind, or undefined if there is none. */
function recordIn(kind: Kind, row: SqlRow): { readonly id: string; readonly active?: boolean } | undefined {
  return ofRecords.has(kind)
    ? (decodeMessage(row['payload'] as Uint8Array).body as { readonly id: string })
    : undefined;
}
