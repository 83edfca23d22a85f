/** Claims of receivers and their waiting events, in the SQL that SQLite and PostgreSQL share. */

import { decodeMessage } from '../../protocol/cbor/message.ts';
import type { Callback } from '../../protocol/schema/callback.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import type { Monitor } from '../../protocol/schema/monitor.ts';
import type {
  ClaimedReceiver,
  ClaimOptions,
  DeliveryChange,
  DeliveryContents,
  DeliveryStore,
  WaitingDelivery,
} from '../core/deliveries.ts';
import type { OwnerKind } from '../core/registry.ts';
import { chunks } from './event-deliveries.ts';
import type { RegistryDatabase, SqlStatement } from './registry.ts';
import { EVENTS, latenessIn, recordIn, type SqlRow } from './rows.ts';

/** SQL that differs between the databases. Leases use the clock of the database, which all hubs share. */
interface DeliveryDialect {
  /** Present time in UTC ms, an integer. */
  readonly now: string;
  /** Clause that skips rows that another hub claims at the same time. */
  readonly unclaimed: string;
}

export const sqliteDeliveries: DeliveryDialect = {
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  unclaimed: '',
};

export const postgresDeliveries: DeliveryDialect = {
  now: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  unclaimed: 'FOR UPDATE SKIP LOCKED',
};

/** Longest possible lease in ms. If a lease ends later, the clock of the database was fast when the lease was set. */
const LONGEST_LEASE = 600_000;

export class SqlDeliveries implements DeliveryStore {
  readonly #database: Pick<RegistryDatabase, 'select' | 'write'>;
  readonly #dialect: DeliveryDialect;

  constructor(database: Pick<RegistryDatabase, 'select' | 'write'>, dialect: DeliveryDialect) {
    this.#database = database;
    this.#dialect = dialect;
  }

  async claim({ now, lease, lasts, proven, limit }: ClaimOptions): Promise<readonly ClaimedReceiver[]> {
    const { now: time, unclaimed } = this.#dialect;
    const free = `(leased_until <= ${time} OR leased_until > ${time} + ${LONGEST_LEASE})`;
    const due = `look IS NOT NULL AND proven = ? AND look <= ? AND ${free}`;
    // Most checks find nothing: then lock nothing.
    const found = await this.#database.select(`SELECT 1 FROM receivers WHERE ${due} LIMIT 1`, proven ? 1 : 0, now);
    if (found.length === 0) return [];
    const [rows = []] = await this.#database.write([
      [
        `WITH chosen AS MATERIALIZED (
           SELECT key FROM receivers WHERE ${due} ORDER BY look LIMIT ? ${unclaimed})
         UPDATE receivers SET lease = ?, leased_until = ${time} + ? FROM chosen WHERE receivers.key = chosen.key
         RETURNING receivers.key, lease, kind, owner, monitor, callback, delivery, next_seq, held, tries, due, proven,
           (SELECT document FROM callbacks WHERE id = receivers.callback) AS callback_document,
           (SELECT document FROM monitors WHERE id = receivers.monitor) AS monitor_document`,
        proven ? 1 : 0,
        now,
        limit,
        lease,
        lasts,
      ],
    ]);
    return rows.map(claimedIn).sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  async waiting(key: string, limit: number): Promise<readonly WaitingDelivery[]> {
    const rows = await this.#database.select(
      `SELECT deliveries.seq AS number, deliveries.at AS came, contents, vin, messages.id, messages.at, payload, behind
       FROM deliveries JOIN vehicles ON vehicles.id = deliveries.vehicle
       LEFT JOIN messages ON messages.id = deliveries.message AND ${EVENTS}
       LEFT JOIN corrections ON corrections.vehicle = deliveries.vehicle AND corrections.boot = messages.boot
       WHERE deliveries.receiver = ? ORDER BY deliveries.seq LIMIT ?`,
      key,
      limit,
    );
    return rows.map(deliveryIn);
  }

  async save(changes: readonly DeliveryChange[]): Promise<ReadonlySet<string>> {
    // Sorted by key, in the same order as when events are stored, so that hubs cannot deadlock.
    const sorted = [...changes].sort((a, b) => (a.key < b.key ? -1 : 1));
    const parts = sorted.map((change) => this.#statementsOf(change));
    const results = await this.#database.write(parts.flat());
    const lost = new Set<string>();
    let at = 0;
    for (const [index, statements] of parts.entries()) {
      if (results[at]?.length === 0) lost.add((sorted[index] as DeliveryChange).key);
      at += statements.length;
    }
    return lost;
  }

  /** Returns statements. The first locks the row if the lease is valid, so the next ones see all earlier commits. */
  #statementsOf({ key, lease, held, tries, due, done, released, lasts }: DeliveryChange): SqlStatement[] {
    const own = 'key = ? AND lease = ?';
    const first: SqlStatement = [
      `UPDATE receivers SET held = ?, tries = ?, due = ?, leased_until = ${this.#dialect.now} + ? WHERE ${own}
       RETURNING key`,
      held,
      tries,
      due ?? null,
      lasts,
      key,
      lease,
    ];
    const erased = done.map(
      (seq): SqlStatement => [
        `DELETE FROM deliveries WHERE receiver = ? AND seq = ? AND EXISTS (SELECT 1 FROM receivers WHERE ${own})`,
        key,
        seq,
        key,
        lease,
      ],
    );
    const counted: SqlStatement[] =
      done.length === 0
        ? []
        : [
            [
              `UPDATE receivers SET waiting = (SELECT count(*) FROM deliveries WHERE receiver = receivers.key) WHERE ${own}`,
              key,
              lease,
            ],
          ];
    if (released === undefined) return [first, ...erased, ...counted];
    const { proven, now, until = now, resting = false, seen } = released;
    const end: SqlStatement = [
      `UPDATE receivers SET proven = ?, lease = NULL, leased_until = 0,
       look = CASE WHEN waiting = 0 OR ? = 1 THEN NULL WHEN next_seq > ? AND due IS NULL THEN CAST(? AS BIGINT)
         ELSE CAST(? AS BIGINT) END WHERE ${own}`,
      proven ? 1 : 0,
      resting ? 1 : 0,
      seen,
      now,
      until,
      key,
      lease,
    ];
    // Remove the receiver after the last event of a removed monitor.
    const forgotten: SqlStatement = [
      `DELETE FROM receivers WHERE key = ? AND waiting = 0 AND monitor IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM monitors WHERE id = receivers.monitor)`,
      key,
    ];
    return [first, ...erased, ...counted, end, forgotten];
  }

  async removeReceiver(key: string, lease: string): Promise<void> {
    const own = 'EXISTS (SELECT 1 FROM receivers WHERE key = ? AND lease = ?)';
    await this.#database.write([
      // Lock the row, so that no event arrives in between.
      ['UPDATE receivers SET lease = lease WHERE key = ? AND lease = ?', key, lease],
      [`DELETE FROM deliveries WHERE receiver = ? AND ${own}`, key, key, lease],
      ['DELETE FROM receivers WHERE key = ? AND lease = ?', key, lease],
    ]);
  }

  async running(callbackIds: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const part of chunks(callbackIds)) {
      const places = part.map(() => '?').join(', ');
      const rows = await this.#database.select(`SELECT document FROM callbacks WHERE id IN (${places})`, ...part);
      for (const { document } of rows) {
        const { callbackId, status } = JSON.parse(document as string) as Callback;
        if (status === 'Running') found.add(callbackId);
      }
    }
    return found;
  }

  async totals(): Promise<{ readonly waiting: number; readonly receivers: number }> {
    const [row] = await this.#database.select(
      'SELECT coalesce(sum(waiting), 0) AS waiting, count(*) AS receivers FROM receivers WHERE waiting > 0',
    );
    return { waiting: Number(row?.['waiting']), receivers: Number(row?.['receivers']) };
  }

  async releaseAll(): Promise<void> {
    await this.#database.write([['UPDATE receivers SET lease = NULL, leased_until = 0 WHERE lease IS NOT NULL']]);
  }
}

function claimedIn(row: SqlRow): ClaimedReceiver {
  const { key, lease, kind, owner, held, tries, due, proven, next_seq: next } = row;
  const { callback: callbackId, monitor: monitorId, callback_document: callback, monitor_document: monitor } = row;
  return {
    key: key as string,
    lease: lease as string,
    owner: { kind: kind as OwnerKind, id: owner as string },
    ...destinationIn(row),
    removed: callbackId === null ? monitorId !== null && monitor === null : callback === null,
    held: held as number,
    tries: tries as number,
    ...(due === null ? {} : { due: due as number }),
    proven: proven === 1,
    next: next as number,
  };
}

/** Reads the destination. An unreadable destination must not hold up the others. */
function destinationIn({
  callback_document: callback,
  monitor_document: monitor,
  delivery,
}: SqlRow): Pick<ClaimedReceiver, 'callback' | 'delivery' | 'unreadable'> {
  try {
    const current = monitor === null ? undefined : (JSON.parse(monitor as string) as Monitor).monitor.delivery;
    const text = current ?? delivery;
    return {
      ...(callback === null ? {} : { callback: JSON.parse(callback as string) as Callback }),
      ...(text === null ? {} : { delivery: text as string }),
    };
  } catch (error) {
    return { unreadable: (error as Error).message };
  }
}

function deliveryIn(row: SqlRow): WaitingDelivery {
  const { number, came, contents, vin, payload } = row;
  return {
    seq: number as number,
    at: came as number,
    vin: vin as string,
    contents: JSON.parse(contents as string) as DeliveryContents,
    about: payload === null ? undefined : aboutIn(row),
  };
}

function aboutIn(row: SqlRow): WaitingDelivery['about'] {
  const message = decodeMessage(row['payload'] as Uint8Array);
  const { kind, body, at } = message;
  if (kind !== 'remote') return { event: recordIn(row).record as MonitorEvent };
  return { report: body, time: Math.round(at) + latenessIn(message, row['behind']) };
}
