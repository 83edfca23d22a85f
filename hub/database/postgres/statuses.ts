/** Status of each car in its row. A hub has at hand what it wrote last, and does not read and parse that again. */
import type { CommitChanges } from '../../core/commit.ts';
import { VehicleStatus } from '../../core/vehicle-status.ts';
import { statusIn } from '../queries.ts';
import type { Execute } from './database.ts';

/** Status as a commit leaves it. */
export interface KnownStatus {
  readonly status: VehicleStatus;
  /** The transaction that wrote the row (`xmin`): another one when another hub has written it since. */
  readonly version: string;
}

/** Cars with a Status in memory. */
const MOST_KNOWN = 20_000;

export class StatusKeeper {
  /** By the id of the vehicle, those that were not written for longest first. */
  readonly #known = new Map<number, KnownStatus>();

  /** Resolves with what is right when the transaction is committed, for {@link committed}. */
  async keep(execute: Execute, messages: CommitChanges['statuses']): Promise<ReadonlyMap<number, KnownStatus>> {
    const vehicles = [...messages.keys()];
    if (vehicles.length === 0) return new Map();
    const rows = await execute(
      `SELECT status.vehicle, CASE WHEN status.xmin::text IS DISTINCT FROM given.version THEN document END AS document
       FROM unnest($1::bigint[], $2::text[]) AS given (vehicle, version) JOIN status ON status.vehicle = given.vehicle`,
      [vehicles, vehicles.map((vehicle) => this.#known.get(vehicle)?.version ?? null)],
    );
    const statuses = new Map(vehicles.map((vehicle) => [vehicle, new VehicleStatus()]));
    for (const row of rows) {
      const vehicle = row['vehicle'] as number;
      const status = row['document'] === null ? this.#known.get(vehicle)?.status : statusIn(row);
      if (status !== undefined) statuses.set(vehicle, status);
    }
    // Later changes would differ from the row if the transaction failed.
    for (const vehicle of vehicles) this.#known.delete(vehicle);
    for (const [vehicle, own] of messages) {
      for (const { message } of own) statuses.get(vehicle)?.apply(message.body, message);
    }
    // JSON has no line break; in an array each of its quotes would be escaped.
    const written = await execute(
      `INSERT INTO status SELECT * FROM unnest($1::bigint[], string_to_array($2, E'\\n'))
       ON CONFLICT (vehicle) DO UPDATE SET document = excluded.document RETURNING vehicle, xmin::text AS version`,
      [[...statuses.keys()], [...statuses.values()].map((status) => status.write()).join('\n')],
    );
    return new Map(
      written.map(({ vehicle, version }) => [
        vehicle as number,
        { status: statuses.get(vehicle as number) as VehicleStatus, version: version as string },
      ]),
    );
  }

  committed(statuses: ReadonlyMap<number, KnownStatus>): void {
    for (const [vehicle, one] of statuses) this.#known.set(vehicle, one);
    for (const vehicle of this.#known.keys()) {
      if (this.#known.size <= MOST_KNOWN) return;
      this.#known.delete(vehicle);
    }
  }
}
