/** Columns that came with a later format, filled from the messages that are there. */
import { factsOf } from '../../protocol/interface/record-filter.ts';
import type { RegistryDatabase, SqlStatement } from './registry.ts';
import { recordIn, withMessages } from './rows.ts';

/** Records of one commit. */
const BATCH = 500;

/** Fills the columns that lists are filtered by, of the records that have none yet. Rejects with `store.failed`. */
export async function fillFacts(database: Pick<RegistryDatabase, 'select' | 'write'>): Promise<void> {
  const sql = `${withMessages('records').replace('SELECT', 'SELECT collection, message,')}
    WHERE began IS NULL AND collection NOT IN ('telemetry', 'waypoint') LIMIT ${BATCH}`;
  for (;;) {
    const rows = await database.select(sql);
    if (rows.length === 0) return;
    await database.write(
      rows.map((row): SqlStatement => {
        const { vehicle, collection, id, message } = row as Record<string, string | number>;
        const facts = factsOf(collection as string, recordIn(row).record);
        const { began, trip = null, distance = null, duration = null, state = null } = facts;
        // Not of a newer message, which has brought its own.
        return [
          `UPDATE records SET began = ?, trip = ?, distance = ?, duration = ?, state = ?
           WHERE vehicle = ? AND collection = ? AND id = ? AND message = ?`,
          ...[Math.round(began), trip, distance, duration, state],
          ...[vehicle, collection, id, message].map((value) => value ?? null),
        ];
      }),
    );
  }
}
