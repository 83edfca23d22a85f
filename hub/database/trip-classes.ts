/** Classes of trips, in the SQL that SQLite and PostgreSQL share. A class goes with its trip. */
import type { ClassifiedTrip, TripClass } from '../../protocol/interface/own/trip-classes.ts';
import type { TripClassStore } from '../core/ports.ts';
import type { RegistryDatabase } from './registry.ts';

const TRIPS = "vehicle = (SELECT id FROM vehicles WHERE vin = ?) AND collection = 'trip'";

export class SqlTripClasses implements TripClassStore {
  readonly #database: Pick<RegistryDatabase, 'select' | 'write'>;

  constructor(database: Pick<RegistryDatabase, 'select' | 'write'>) {
    this.#database = database;
  }

  async setTripClass(vin: string, trip: string, to: TripClass | null): Promise<boolean> {
    const [set = []] = await this.#database.write([
      [`UPDATE records SET trip_class = ? WHERE ${TRIPS} AND id = ? RETURNING id`, to, vin, trip],
    ]);
    return set.length > 0;
  }

  async tripClasses(vin: string, after: string, limit: number): Promise<readonly ClassifiedTrip[]> {
    const rows = await this.#database.select(
      `SELECT id, trip_class AS class FROM records
       WHERE ${TRIPS} AND id > ? AND trip_class IS NOT NULL ORDER BY id LIMIT ?`,
      vin,
      after,
      limit,
    );
    return rows as unknown as readonly ClassifiedTrip[];
  }
}
