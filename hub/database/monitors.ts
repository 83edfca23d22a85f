/** Monitors and callbacks of fleets and users, in the SQL that SQLite and PostgreSQL share. */

import { receiverOfMonitor } from '../../agent/callbacks/monitor-places.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Callback } from '../../protocol/schema/callback.ts';
import type { Monitor, MonitorList } from '../../protocol/schema/monitor.ts';
import type {
  CarMonitorStore,
  CarMonitors,
  DueMonitors,
  MonitorStore,
  OwnedCallback,
  OwnedMonitor,
} from '../core/monitors.ts';
import type { Owner } from '../core/registry.ts';
import { IN_USE, type RegistryDatabase, type SqlStatement } from './registry.ts';
import { CAR, type SqlRow } from './rows.ts';

export class SqlMonitors implements MonitorStore, CarMonitorStore {
  readonly #database: RegistryDatabase;

  constructor(database: RegistryDatabase) {
    this.#database = database;
  }

  async monitorsOf({ kind, id }: Owner): Promise<readonly OwnedMonitor[]> {
    const rows = await this.#database.select(
      'SELECT * FROM monitors WHERE kind = ? AND owner = ? ORDER BY created, id',
      kind,
      id,
    );
    return rows.map(monitorIn);
  }

  async callbacksOf({ kind, id }: Owner): Promise<readonly OwnedCallback[]> {
    const rows = await this.#database.select(
      'SELECT * FROM callbacks WHERE kind = ? AND owner = ? ORDER BY created, id',
      kind,
      id,
    );
    return rows.map((row) => ({ owner: ownerIn(row), callback: JSON.parse(row['document'] as string) as Callback }));
  }

  async putMonitor({ owner: { kind, id }, vin, callbackId, monitor }: OwnedMonitor): Promise<void> {
    const [written = []] = await this.#database.write([
      [
        `INSERT INTO monitors (id, kind, owner, vin, callback, created, document) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET vin = excluded.vin, callback = excluded.callback, document = excluded.document
         WHERE monitors.kind = excluded.kind AND monitors.owner = excluded.owner RETURNING id`,
        monitor.monitorId,
        kind,
        id,
        vin ?? null,
        callbackId ?? null,
        monitor.createdAt,
        JSON.stringify(monitor),
      ],
      ...makeDue({ kind, id }),
    ]);
    if (written.length === 0) throw foreign('monitor', monitor.monitorId);
  }

  async removeMonitor({ kind, id: owner }: Owner, id: string): Promise<boolean> {
    const sql = 'DELETE FROM monitors WHERE id = ? AND kind = ? AND owner = ? RETURNING id';
    const [removed = []] = await this.#database.write([
      [sql, id, kind, owner],
      // Deliver earlier events before removing the receiver.
      [`DELETE FROM receivers WHERE key = ? AND waiting = 0 AND ${gone('monitors')}`, receiverOfMonitor(id), id],
      ...makeDue({ kind, id: owner }),
    ]);
    return removed.length > 0;
  }

  async putCallback({ owner: { kind, id }, callback }: OwnedCallback): Promise<void> {
    const [written = []] = await this.#database.write([
      [
        `INSERT INTO callbacks (id, kind, owner, created, document) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET document = excluded.document
         WHERE callbacks.kind = excluded.kind AND callbacks.owner = excluded.owner RETURNING id`,
        callback.callbackId,
        kind,
        id,
        callback.createdAt,
        JSON.stringify(callback),
      ],
      // Send waiting events to the new address, or resume sending them.
      ['UPDATE receivers SET look = 0 WHERE callback = ? AND waiting > 0', callback.callbackId],
    ]);
    if (written.length === 0) throw foreign('callback', callback.callbackId);
  }

  async removeCallback({ kind, id: owner }: Owner, id: string): Promise<boolean> {
    const [removed = []] = await this.#database.write([
      ['DELETE FROM callbacks WHERE id = ? AND kind = ? AND owner = ? RETURNING id', id, kind, owner],
      ['DELETE FROM monitors WHERE callback = ? AND kind = ? AND owner = ?', id, kind, owner],
      [
        `DELETE FROM deliveries WHERE receiver IN (SELECT key FROM receivers WHERE callback = ? AND ${gone('callbacks')})`,
        id,
        id,
      ],
      [`DELETE FROM receivers WHERE callback = ? AND ${gone('callbacks')}`, id, id],
      ...makeDue({ kind, id: owner }),
    ]);
    return removed.length > 0;
  }

  async dueCars(now: number, limit: number): Promise<readonly DueMonitors[]> {
    const rows = await this.#database.select(
      `SELECT vin, due, attempts, last_seen FROM car_monitors JOIN vehicles ON vehicles.id = car_monitors.vehicle
       WHERE due IS NOT NULL AND due <= ? ORDER BY due LIMIT ?`,
      now,
      limit,
    );
    return rows.map((row) => ({
      vin: row['vin'] as string,
      due: row['due'] as number,
      attempts: row['attempts'] as number,
      lastSeen: row['last_seen'] as number,
    }));
  }

  async putOffCar(
    { vin, due: before }: DueMonitors,
    { due, attempts }: { readonly due?: number; readonly attempts: number },
  ): Promise<boolean> {
    const sql = `UPDATE car_monitors SET due = ?, attempts = ? WHERE vehicle = ${CAR} AND due = ? RETURNING vehicle`;
    const [changed = []] = await this.#database.write([[sql, due ?? null, attempts, vin, before]]);
    return changed.length > 0;
  }

  async carOnline(vin: string, at: number): Promise<void> {
    await this.#database.write([
      [`UPDATE car_monitors SET due = ? WHERE vehicle = ${CAR} AND due IS NOT NULL AND due > ?`, at, vin, at],
    ]);
  }

  async carMonitors(vin: string): Promise<CarMonitors> {
    const { select } = this.#database;
    const inUse = (await select(IN_USE)).length > 0;
    const wanted = inUse
      ? await select(
          `SELECT monitors.* FROM owned_cars
           JOIN monitors ON monitors.kind = owned_cars.kind AND monitors.owner = owned_cars.owner
           WHERE owned_cars.vin = ? AND (monitors.vin IS NULL OR monitors.vin = ?) ORDER BY created, id`,
          vin,
          vin,
        )
      : await select('SELECT * FROM monitors WHERE vin IS NULL OR vin = ? ORDER BY created, id', vin);
    const [report] = await select(`SELECT received, document FROM reported_monitors WHERE vehicle = ${CAR}`, vin);
    return {
      wanted: wanted.map(monitorIn),
      reported: report === undefined ? [] : (JSON.parse(report['document'] as string) as MonitorList['monitors']),
      ...(report === undefined ? {} : { reportedAt: report['received'] as number }),
    };
  }
}

function foreign(kind: 'monitor' | 'callback', id: string): VigieError {
  return new VigieError('request.forbidden', `the ${kind} "${id}" belongs to another fleet or user: choose another id`);
}

const gone = (table: string): string => `NOT EXISTS (SELECT 1 FROM ${table} WHERE id = ?)`;

/** Due time 0: compare at once. */
const NOW = 0;

/** Marks all cars of the owner as due for comparison; without a registry, all cars. */
function makeDue({ kind, id }: Owner): SqlStatement[] {
  return [
    [
      `UPDATE car_monitors SET due = ${NOW}, attempts = 0 WHERE vehicle IN (SELECT vehicles.id FROM owned_cars
       JOIN vehicles ON vehicles.vin = owned_cars.vin WHERE owned_cars.kind = ? AND owned_cars.owner = ?)`,
      kind,
      id,
    ],
    [`UPDATE car_monitors SET due = ${NOW}, attempts = 0 WHERE NOT EXISTS (${IN_USE})`],
  ];
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
