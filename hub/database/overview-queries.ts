/** Queries over all cars, in the SQL that SQLite and PostgreSQL share. */

import { decodeMessage } from '../../protocol/cbor/message.ts';
import { slots } from '../../protocol/slots.ts';
import type { ArrivedMessage, EventRange, EventScope, OverviewReader, VehicleSummary } from '../core/ports.ts';
import { statusIn } from './queries.ts';
import { CAR, EVENTS, ownedBy, type Select, type SqlCondition } from './rows.ts';

/** Objects of Status that the overview of thousands of cars contains. */
const SUMMARY: ReadonlySet<number> = new Set(
  slots.filter(({ path }) => /^(kinetic|lastPosition|energies|odometer)\./.test(path)).map(({ object }) => object),
);

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
      `SELECT vehicles.id, vin, first_seen, last_seen, changed, document FROM vehicles
       LEFT JOIN status ON status.vehicle = vehicles.id
       WHERE changed >= ? AND vin > ? ORDER BY vin LIMIT ?`,
      since,
      after,
      limit,
    );
    const last = rows.at(-1)?.['vin'] as string | undefined;
    if (last === undefined) return [];
    const numbers = await this.#select(
      `SELECT vehicle, CAST(sum(missing) AS bigint) AS missing FROM numbers
       JOIN vehicles ON vehicles.id = numbers.vehicle
       WHERE changed >= ? AND vin > ? AND vin <= ? GROUP BY vehicle`,
      since,
      after,
      last,
    );
    const missing = new Map(numbers.map((row) => [row['vehicle'] as number, row['missing'] as number]));
    return rows.map((row) => ({
      vin: row['vin'] as string,
      firstSeen: row['first_seen'] as number,
      lastSeen: row['last_seen'] as number,
      changed: row['changed'] as number,
      contents: statusIn(row).contents(SUMMARY),
      missing: missing.get(row['id'] as number) ?? 0,
    }));
  }

  async arrived({ vin, owners, after, before, limit }: EventScope & EventRange): Promise<readonly ArrivedMessage[]> {
    const scope: SqlCondition[] = [];
    if (vin !== undefined) scope.push({ sql: `vehicle = ${CAR}`, values: [vin] });
    if (owners !== undefined) {
      const { sql, values } = ownedBy(owners);
      scope.push({ sql: `vehicle IN (SELECT vehicles.id FROM vehicles WHERE ${sql})`, values });
    }
    const asked = ['id > ? AND id < ?', EVENTS, ...scope.map(({ sql }) => sql)].join(' AND ');
    // Select the page before joining the messages.
    const rows = await this.#select(
      `SELECT messages.id, (SELECT vin FROM vehicles WHERE vehicles.id = messages.vehicle) AS vin, received, payload
       FROM (SELECT id FROM messages WHERE ${asked} ORDER BY id DESC LIMIT ?) AS page
       JOIN messages ON messages.id = page.id AND ${EVENTS}`,
      after,
      before,
      ...scope.flatMap(({ values }) => values),
      limit,
    );
    const newestFirst = rows.toSorted((a, b) => (b['id'] as number) - (a['id'] as number));
    return newestFirst.map((row) => ({
      id: row['id'] as number,
      vin: row['vin'] as string,
      received: row['received'] as number,
      message: decodeMessage(row['payload'] as Uint8Array),
    }));
  }
}
