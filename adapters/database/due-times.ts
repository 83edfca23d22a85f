/** Moments in the database that a fast clock has put too far ahead, in the SQL that SQLite and PostgreSQL share. */
import type { DueTimesStore, LongestWaits } from '../../hub/due-times.ts';
import type { RegistryDatabase, SqlStatement } from './registry.ts';
import type { SqlValue } from './rows.ts';

/** Rows along an index, and what becomes of them; each has the bound, and the change the moment before it. */
interface Late {
  readonly wait: keyof LongestWaits;
  readonly rows: string;
  readonly changes: readonly string[];
}

const RECEIVERS = 'receivers WHERE look IS NOT NULL AND proven IN (0, 1) AND look > ?';

const LATE: readonly Late[] = [
  {
    wait: 'resends',
    rows: 'numbers WHERE missing > 0 AND due > ?',
    changes: ['UPDATE numbers SET due = ? WHERE missing > 0 AND due > ? RETURNING vehicle'],
  },
  {
    wait: 'monitors',
    rows: 'car_monitors WHERE due IS NOT NULL AND due > ?',
    changes: ['UPDATE car_monitors SET due = ? WHERE due IS NOT NULL AND due > ? RETURNING vehicle'],
  },
  {
    wait: 'rollouts',
    rows: `rollout_cars WHERE rollout IN (SELECT id FROM rollouts WHERE stage <> 'stopped')
      AND state IN ('waiting', 'sent') AND due > ?`,
    changes: [
      `UPDATE rollout_cars SET due = ? WHERE rollout IN (SELECT id FROM rollouts WHERE stage <> 'stopped')
       AND state IN ('waiting', 'sent') AND due > ? RETURNING vin`,
    ],
  },
  {
    wait: 'deliveries',
    rows: RECEIVERS,
    changes: [
      `UPDATE deliveries SET at = ? WHERE receiver IN (SELECT key FROM ${RECEIVERS}) AND at > ?`,
      'UPDATE receivers SET look = ? WHERE look IS NOT NULL AND proven IN (0, 1) AND look > ? RETURNING key',
    ],
  },
];

export class SqlDueTimes implements DueTimesStore {
  readonly #database: Pick<RegistryDatabase, 'select' | 'write'>;

  constructor(database: Pick<RegistryDatabase, 'select' | 'write'>) {
    this.#database = database;
  }

  async pullIn(now: number, longest: LongestWaits): Promise<number> {
    let count = 0;
    for (const { wait, rows, changes } of LATE) {
      const bound = now + longest[wait];
      // There is hardly ever one: a look locks nothing.
      if ((await this.#database.select(`SELECT 1 FROM ${rows} LIMIT 1`, bound)).length === 0) continue;
      const statements = changes.map((sql): SqlStatement => {
        const bounds: SqlValue[] = sql.startsWith('UPDATE deliveries') ? [bound, now] : [bound];
        return [sql, now, ...bounds];
      });
      count += (await this.#database.write(statements)).at(-1)?.length ?? 0;
    }
    return count;
  }
}
