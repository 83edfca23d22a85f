/** Monitors and callbacks of fleets and users, in the SQL that SQLite and PostgreSQL share. */
import type { MonitorStore, OwnedCallback, OwnedMonitor } from '../../hub/monitors.ts';
import type { Owner } from '../../hub/registry.ts';
import type { Callback } from '../../protocol/schema/callback.ts';
import type { Monitor } from '../../protocol/schema/monitor.ts';
import type { RegistryDatabase } from './registry.ts';
import type { SqlRow } from './rows.ts';

export class SqlMonitors implements MonitorStore {
  readonly #database: RegistryDatabase;

  constructor(database: RegistryDatabase) {
    this.#database = database;
  }

  async monitorsOf({ kind, id }: Owner): Promise<readonly OwnedMonitor[]> {
    const rows = await this.#database.select(
      'SELECT * FROM monitors WHERE kind = ? AND owner = ? ORDER BY created, id',
      ...[kind, id],
    );
    return rows.map(monitorIn);
  }

  async callbacksOf({ kind, id }: Owner): Promise<readonly OwnedCallback[]> {
    const rows = await this.#database.select(
      'SELECT * FROM callbacks WHERE kind = ? AND owner = ? ORDER BY created, id',
      ...[kind, id],
    );
    return rows.map((row) => ({ owner: ownerIn(row), callback: JSON.parse(row['document'] as string) as Callback }));
  }

  async putMonitor({ owner: { kind, id }, vin, callbackId, monitor }: OwnedMonitor): Promise<void> {
    await this.#database.write([
      [
        `INSERT INTO monitors (id, kind, owner, vin, callback, created, document) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET vin = excluded.vin, callback = excluded.callback, document = excluded.document`,
        ...[monitor.monitorId, kind, id, vin ?? null, callbackId ?? null, monitor.createdAt, JSON.stringify(monitor)],
      ],
    ]);
  }

  async removeMonitor({ kind, id: owner }: Owner, id: string): Promise<boolean> {
    const sql = 'DELETE FROM monitors WHERE id = ? AND kind = ? AND owner = ? RETURNING id';
    const [removed = []] = await this.#database.write([[sql, id, kind, owner]]);
    return removed.length > 0;
  }

  async putCallback({ owner: { kind, id }, callback }: OwnedCallback): Promise<void> {
    await this.#database.write([
      [
        `INSERT INTO callbacks (id, kind, owner, created, document) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET document = excluded.document`,
        ...[callback.callbackId, kind, id, callback.createdAt, JSON.stringify(callback)],
      ],
    ]);
  }

  async removeCallback({ kind, id: owner }: Owner, id: string): Promise<boolean> {
    const [removed = []] = await this.#database.write([
      ['DELETE FROM callbacks WHERE id = ? AND kind = ? AND owner = ? RETURNING id', id, kind, owner],
      ['DELETE FROM monitors WHERE callback = ? AND kind = ? AND owner = ?', id, kind, owner],
    ]);
    return removed.length > 0;
  }
}

function ownerIn({ kind, owner }: SqlRow): Owner {
  return { kind: kind as Owner['kind'], id: owner as string };
}

function monitorIn(row: SqlRow): OwnedMonitor {
  const { vin, callback, document } = row;
  return {
    owner: ownerIn(row),
    ...(vin === null ? {} : { vin: vin as string }),
    ...(callback === null ? {} : { callbackId: callback as string }),
    monitor: JSON.parse(document as string) as Monitor,
  };
}
