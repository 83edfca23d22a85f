/** What a hub reads of all cars at once, in the SQL that SQLite and PostgreSQL share. */
import type { ArrivedMessage, OverviewReader, VehicleSummary } from '../../hub/ports.ts';
import type { KeptStatus } from '../../hub/vehicle-status.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import type { Select } from './queries.ts';

/** Messages that are looked through for events, the newest: no index leads to their kinds. */
const LOOKED_THROUGH = 20_000;

export class SqlOverview implements OverviewReader {
  readonly #select: Select;

  constructor(select: Select) {
    this.#select = select;
  }

  async countVehicles(): Promise<number> {
    const [row] = await this.#select('SELECT count(*) AS total FROM vehicles');
    return row?.['total'] as number;
  }

  async summaries(since: number, after: string, limit: number): Promise<readonly VehicleSummary[]> {
    const rows = await this.#select(
      `SELECT vehicles.id, vin, first_seen, last_seen, document FROM vehicles
       LEFT JOIN status ON status.vehicle = vehicles.id
       WHERE last_seen >= ? AND vin > ? ORDER BY vin LIMIT ?`,
      ...[since, after, limit],
    );
    const last = rows.at(-1)?.['vin'] as string | undefined;
    if (last === undefined) return [];
    const numbers = await this.#select(
      `SELECT vehicle, CAST(sum(missing) AS bigint) AS missing FROM numbers
       JOIN vehicles ON vehicles.id = numbers.vehicle
       WHERE last_seen >= ? AND vin > ? AND vin <= ? GROUP BY vehicle`,
      ...[since, after, last],
    );
    const missing = new Map(numbers.map((row) => [row['vehicle'] as number, row['missing'] as number]));
    return rows.map((row) => ({
      vin: row['vin'] as string,
      firstSeen: row['first_seen'] as number,
      lastSeen: row['last_seen'] as number,
      // Not made a VehicleStatus: of thousands of cars only a few members are shown.
      contents: typeof row['document'] === 'string' ? (JSON.parse(row['document']) as KeptStatus).contents : {},
      missing: missing.get(row['id'] as number) ?? 0,
    }));
  }

  async arrived(kinds: readonly Kind[], after: number, limit: number): Promise<readonly ArrivedMessage[]> {
    const rows = await this.#select(
      `SELECT messages.id, vin, received, payload FROM messages JOIN vehicles ON vehicles.id = messages.vehicle
       WHERE messages.id > ? AND messages.id > (SELECT max(id) FROM messages) - ${LOOKED_THROUGH}
       AND kind IN (${kinds.map(() => '?').join(', ')}) ORDER BY messages.id DESC LIMIT ?`,
      ...[after, ...kinds, limit],
    );
    return rows.map((row) => ({
      id: row['id'] as number,
      vin: row['vin'] as string,
      received: row['received'] as number,
      message: decodeMessage(row['payload'] as Uint8Array),
    }));
  }
}
