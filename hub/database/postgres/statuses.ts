/** Status of each car, in the car's row. A hub caches what it wrote last, to avoid reading and parsing it again. */
import type { CommitChanges } from '../../core/commit.ts';
import { VehicleStatus } from '../../core/vehicle-status.ts';
import { statusIn } from '../queries.ts';
import type { Execute } from './execute.ts';

/** Status after a commit. */
export interface KnownStatus {
  readonly status: VehicleStatus;
  /** Transaction that wrote the row (`xmin`). Differs if another hub has written the row since. */
  readonly version: string;
}

/** Largest number of cars with a cached Status. */
const MOST_KNOWN = 20_000;

export class StatusKeeper {
  /** Cached Status by the id of the vehicle, least recently written first. */
  readonly #known = new Map<number, KnownStatus>();

  /** Writes the Status. Resolves with the values to pass to {@link committed} after the commit. */
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
    // If the transaction fails, the cached values must not contain its changes.
    for (const vehicle of vehicles) this.#known.delete(vehicle);
    for (const [vehicle, own] of messages) {
      for (const { message } of own) statuses.get(vehicle)?.accept(message);
    }
    // Joined by line breaks, which this JSON does not contain. In an array, each quote would be escaped.
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
