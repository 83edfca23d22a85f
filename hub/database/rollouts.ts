/** Roll-outs of configurations, in the SQL that SQLite and PostgreSQL share. */

import { VigieError } from '../../protocol/errors.ts';
import { type RolloutCarState, type RolloutStage, rolloutCarStates } from '../../protocol/interface/own/rollouts.ts';
import type { CarMessage } from '../core/message.ts';
import {
  type DueCar,
  type NewRollout,
  type ReportedConfiguration,
  type Rollout,
  type RolloutCar,
  type RolloutStore,
  rolloutReportIn,
} from '../core/rollout-store.ts';
import type { RegistryDatabase, SqlStatement } from './registry.ts';
import { isAfterSql, type SqlRow } from './rows.ts';

/** Cars of a fleet. Without a registry all cars are in the fleet `local`. The fleet's id is bound twice. */
const FLEET_CARS = `SELECT cars.vin FROM owned_cars JOIN cars ON cars.vin = owned_cars.vin
  WHERE owned_cars.kind = 'fleet' AND owned_cars.owner = ? AND removed IS NULL
  UNION SELECT vin FROM vehicles WHERE ? = 'local' AND NOT EXISTS (SELECT 1 FROM owners)`;
const UNDER_WAY = "WHERE stage <> 'stopped'";
const COLUMNS = 'id, fleet, name, digest, caller, created, first_cars, tolerated, stage, reason';

export class SqlRollouts implements RolloutStore {
  readonly #database: Pick<RegistryDatabase, 'select' | 'write'>;

  constructor(database: Pick<RegistryDatabase, 'select' | 'write'>) {
    this.#database = database;
  }

  async begin({ id, fleet, name, digest, body, caller, created, first, tolerated }: NewRollout): Promise<void> {
    const [car] = await this.#database.select(`${FLEET_CARS} LIMIT 1`, fleet, fleet);
    if (car === undefined) {
      throw new VigieError('request.unknown', `the fleet "${fleet}" has no car: vigie hub add VIN --fleet ${fleet}`);
    }
    await this.#database.write([
      [
        "UPDATE rollouts SET stage = 'stopped', reason = ? WHERE fleet = ? AND stage <> 'stopped'",
        `the roll-out ${id} takes its place`,
        fleet,
      ],
      [
        `INSERT INTO rollouts (${COLUMNS}, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'first', NULL, ?)`,
        id,
        fleet,
        name,
        digest,
        caller,
        created,
        first,
        tolerated,
        body,
      ],
      [
        `INSERT INTO rollout_cars (rollout, vin, is_first)
         SELECT CAST(? AS text), fleet_cars.vin, 1 FROM (${FLEET_CARS}) AS fleet_cars
         LEFT JOIN vehicles ON vehicles.vin = fleet_cars.vin
         ORDER BY coalesce(last_seen, 0) DESC, fleet_cars.vin LIMIT ?`,
        id,
        fleet,
        fleet,
        first,
      ],
    ]);
  }

  async rollouts({ underWay = false } = {}): Promise<readonly Rollout[]> {
    const [those, theirs] = underWay
      ? [UNDER_WAY, `WHERE rollout IN (SELECT id FROM rollouts ${UNDER_WAY})`]
      : ['', ''];
    const rows = await this.#database.select(`SELECT ${COLUMNS} FROM rollouts ${those} ORDER BY created DESC, id DESC`);
    const counts = await this.#database.select(
      `SELECT rollout, state, count(*) AS cars FROM rollout_cars ${theirs} GROUP BY rollout, state`,
    );
    return rows.map((row) =>
      rolloutIn(
        row,
        counts.filter(({ rollout }) => rollout === row['id']),
      ),
    );
  }

  async rollout(id: string): Promise<Rollout | undefined> {
    const [row] = await this.#database.select(`SELECT ${COLUMNS} FROM rollouts WHERE id = ?`, id);
    if (row === undefined) return undefined;
    const sql = 'SELECT state, count(*) AS cars FROM rollout_cars WHERE rollout = ? GROUP BY state';
    return rolloutIn(row, await this.#database.select(sql, id));
  }

  async body(id: string): Promise<Uint8Array | undefined> {
    const [row] = await this.#database.select('SELECT body FROM rollouts WHERE id = ?', id);
    return row?.['body'] as Uint8Array | undefined;
  }

  async cars(id: string, after: string, limit: number, state?: RolloutCarState): Promise<readonly RolloutCar[]> {
    const only = state === undefined ? [] : [state];
    const sql = `SELECT vin, is_first, state, detail, at FROM rollout_cars WHERE rollout = ? AND vin > ?
      ${only.map(() => 'AND state = ?').join('')} ORDER BY vin LIMIT ?`;
    return (await this.#database.select(sql, id, after, ...only, limit)).map(carIn);
  }

  async setStage(
    id: string,
    from: RolloutStage,
    to: RolloutStage,
    { tolerated, reason }: { tolerated?: number; reason?: string },
  ): Promise<boolean> {
    const sql = `UPDATE rollouts SET stage = ?, reason = ?, tolerated = coalesce(?, tolerated)
      WHERE id = ? AND stage = ? RETURNING id`;
    const [changed = []] = await this.#database.write([[sql, to, reason ?? null, tolerated ?? null, id, from]]);
    return changed.length > 0;
  }

  async enlist(id: string): Promise<void> {
    const [row] = await this.#database.select('SELECT fleet FROM rollouts WHERE id = ?', id);
    const fleet = row?.['fleet'] as string;
    const absent = `SELECT fleet_cars.vin FROM (${FLEET_CARS}) AS fleet_cars WHERE NOT EXISTS
      (SELECT 1 FROM rollout_cars WHERE rollout = ? AND rollout_cars.vin = fleet_cars.vin)`;
    if ((await this.#database.select(`${absent} LIMIT 1`, fleet, fleet, id)).length === 0) return;
    const sql = `INSERT INTO rollout_cars (rollout, vin, is_first) SELECT CAST(? AS text), vin, 0 FROM (${absent}) AS absent
      WHERE true ON CONFLICT DO NOTHING`;
    await this.#database.write([[sql, id, fleet, fleet, id]]);
  }

  async dueCars(
    id: string,
    now: number,
    { heard, trialSince }: { heard: number; trialSince: number },
    limit: number,
  ): Promise<readonly DueCar[]> {
    const sql = `SELECT rollout_cars.vin, attempts, due FROM rollout_cars JOIN rollouts ON rollouts.id = rollout
      JOIN vehicles ON vehicles.vin = rollout_cars.vin LEFT JOIN configurations ON configurations.vehicle = vehicles.id
      WHERE rollout = ? AND due <= ? AND last_seen >= ? AND (rollout_cars.state IN ('waiting', 'sent')
        OR rollout_cars.state IN ('accepted', 'trial') AND rollout_cars.at < ? AND configurations.at >= rollout_cars.at
          AND coalesce(configurations.digest, '') <> rollouts.digest)
      ORDER BY due, rollout_cars.vin LIMIT ?`;
    const rows = await this.#database.select(sql, id, now, heard, trialSince, limit);
    return rows.map(({ vin, attempts, due }) => ({
      vin: vin as string,
      attempts: attempts as number,
      due: due as number,
    }));
  }

  async underWay(id: string, now: number, since: number): Promise<number> {
    const sql = `SELECT count(*) AS cars FROM rollout_cars WHERE rollout = ?
      AND (state = 'sent' AND due > ? OR state IN ('accepted', 'trial') AND at BETWEEN ? AND ?)`;
    // A time that is further ahead comes from a fast clock. The clocks of hubs differ slightly.
    const [row] = await this.#database.select(sql, id, now, since, now + (now - since));
    return row?.['cars'] as number;
  }

  async claim(
    id: string,
    { vin, attempts, due }: DueCar,
    next: { command: string; at: number; due: number },
  ): Promise<boolean> {
    const sql = `UPDATE rollout_cars SET state = 'sent', command = ?, at = ?, due = ?, attempts = attempts + 1
      WHERE rollout = ? AND vin = ? AND attempts = ? AND due = ?
      AND state IN ('waiting', 'sent', 'accepted', 'trial')
      AND EXISTS (SELECT 1 FROM rollouts WHERE id = rollout AND stage <> 'stopped') RETURNING vin`;
    const values = [next.command, next.at, next.due, id, vin, attempts, due];
    const [changed = []] = await this.#database.write([[sql, ...values]]);
    return changed.length > 0;
  }

  async refuse(id: string, vin: string, command: string, detail: string, at: number): Promise<void> {
    const sql = `UPDATE rollout_cars SET state = 'refused', detail = ?, at = ?
      WHERE rollout = ? AND vin = ? AND command = ? AND state = 'sent'`;
    await this.#database.write([[sql, detail, at, id, vin, command]]);
  }

  async failure(id: string): Promise<RolloutCar | undefined> {
    const sql = `SELECT vin, is_first, state, detail, at FROM rollout_cars
      WHERE rollout = ? AND state IN ('returned', 'refused') ORDER BY vin LIMIT 1`;
    return (await this.#database.select(sql, id)).map(carIn)[0];
  }

  async configurations(after: string, limit: number): Promise<readonly ReportedConfiguration[]> {
    const sql = `SELECT vin, generation, state, digest, detail, at FROM configurations
      JOIN vehicles ON vehicles.id = configurations.vehicle WHERE vin > ? ORDER BY vin LIMIT ?`;
    return (await this.#database.select(sql, after, limit)).map((row) => ({
      vin: row['vin'] as string,
      generation: row['generation'] as number,
      state: row['state'] as string,
      ...optionalText(row, 'digest'),
      ...optionalText(row, 'detail'),
      at: row['at'] as number,
    }));
  }
}

/**
 * Returns the statements with which a message changes roll-outs, and the known configuration and trusted keys of the
 * vehicle.
 */
export function configurationStatements(vehicle: number, { vin, message, received }: CarMessage): SqlStatement[] {
  const { boot, seq } = message;
  const statements: SqlStatement[] = [];
  if (message.kind === 'hello' && message.body.configuration !== undefined) {
    const { generation, state, digest = null, detail = null } = message.body.configuration;
    statements.push([
      `INSERT INTO configurations (vehicle, generation, state, digest, detail, boot, seq, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (vehicle) DO UPDATE SET generation = excluded.generation, state = excluded.state, digest = excluded.digest,
         detail = excluded.detail, boot = excluded.boot, seq = excluded.seq, at = excluded.at
       WHERE ${isAfterSql('excluded', 'configurations')}`,
      vehicle,
      generation,
      state,
      textOf(digest),
      textOf(detail),
      boot,
      seq,
      received,
    ]);
  }
  if (message.kind === 'hello' && message.body.keys !== undefined) {
    statements.push([
      `INSERT INTO trusted_keys (vehicle, boot, seq, document) VALUES (?, ?, ?, ?) ON CONFLICT (vehicle) DO UPDATE SET
         boot = excluded.boot, seq = excluded.seq, document = excluded.document
       WHERE ${isAfterSql('excluded', 'trusted_keys')}`,
      vehicle,
      boot,
      seq,
      textOf(JSON.stringify(message.body.keys)),
    ]);
  }
  const report = rolloutReportIn(message);
  if (report === undefined) return statements;
  const { state, detail, digest, command } = report;
  if (command !== undefined) {
    // Only in the state `sent`: if a hello arrived before, it contained more.
    const sql =
      "UPDATE rollout_cars SET state = ?, detail = ?, at = ? WHERE vin = ? AND command = ? AND state = 'sent'";
    return [[sql, state, textOf(detail), received, vin, textOf(command)]];
  }
  const sql = `UPDATE rollout_cars SET state = ?, detail = ?, at = ?, boot = given.boot, seq = given.seq
    FROM (SELECT CAST(? AS bigint) AS boot, CAST(? AS bigint) AS seq) AS given
    WHERE vin = ? AND ${isAfterSql('given', 'rollout_cars')} AND rollout IN (SELECT id FROM rollouts WHERE digest = ?)`;
  statements.push([sql, state, textOf(detail), received, boot, seq, vin, textOf(digest ?? null)]);
  return statements;
}

/** Replaces U+0000, which a car may send and which PostgreSQL does not allow in strings. */
function textOf(text: string | null): string | null {
  return text?.replaceAll('\0', '\u{fffd}') ?? null;
}

function optionalText<K extends string>(row: SqlRow, name: K): { readonly [N in K]?: string } {
  return (typeof row[name] === 'string' ? { [name]: row[name] } : {}) as { readonly [N in K]?: string };
}

function rolloutIn(row: SqlRow, counts: readonly SqlRow[]): Rollout {
  const cars = Object.fromEntries(rolloutCarStates.map((state) => [state, 0])) as Record<RolloutCarState, number>;
  for (const { state, cars: count } of counts) cars[state as RolloutCarState] = count as number;
  return {
    id: row['id'] as string,
    fleet: row['fleet'] as string,
    name: row['name'] as string,
    digest: row['digest'] as string,
    caller: row['caller'] as string,
    created: row['created'] as number,
    first: row['first_cars'] as number,
    tolerated: row['tolerated'] as number,
    stage: row['stage'] as RolloutStage,
    ...optionalText(row, 'reason'),
    cars,
  };
}

function carIn(row: SqlRow): RolloutCar {
  return {
    vin: row['vin'] as string,
    isFirst: row['is_first'] === 1,
    state: row['state'] as RolloutCarState,
    ...optionalText(row, 'detail'),
    ...(row['at'] === null ? {} : { at: row['at'] as number }),
  };
}
