/** Finds due times that a fast clock has set too far ahead, in the SQL that SQLite and PostgreSQL share. */
import type { DueTimesStore, LongestWaits } from '../core/due-times.ts';
import type { RegistryDatabase, SqlStatement } from './registry.ts';

/** A table with a due time, the column of that time, and a condition that uses an index and ends with the bound. */
interface Late {
  readonly wait: keyof LongestWaits;
  readonly table: string;
  readonly column: string;
  readonly where: string;
  /** Statement to run first. Its parameters are the new time, the bound and, again, the new time. */
  readonly before?: string;
}

const RECEIVERS = 'look IS NOT NULL AND proven IN (0, 1) AND look > ?';

const LATE: readonly Late[] = [
  { wait: 'resends', table: 'numbers', column: 'due', where: 'missing > 0 AND due > ?' },
  { wait: 'monitors', table: 'car_monitors', column: 'due', where: 'due IS NOT NULL AND due > ?' },
  {
    wait: 'rollouts',
    table: 'rollout_cars',
    column: 'due',
    where: `rollout IN (SELECT id FROM rollouts WHERE stage <> 'stopped') AND state IN ('waiting', 'sent') AND due > ?`,
  },
  {
    wait: 'deliveries',
    table: 'receivers',
    column: 'look',
    where: RECEIVERS,
    before: `UPDATE deliveries SET at = ? WHERE receiver IN (SELECT key FROM receivers WHERE ${RECEIVERS}) AND at > ?`,
  },
];

export class SqlDueTimes implements DueTimesStore {
  readonly #database: Pick<RegistryDatabase, 'select' | 'write'>;

  constructor(database: Pick<RegistryDatabase, 'select' | 'write'>) {
    this.#database = database;
  }

  async pullIn(now: number, longest: LongestWaits): Promise<number> {
    let count = 0;
    for (const { wait, table, column, where, before } of LATE) {
      const bound = now + longest[wait];
      // Due times are rarely too far ahead: lock nothing for the check.
      if ((await this.#database.select(`SELECT 1 FROM ${table} WHERE ${where} LIMIT 1`, bound)).length === 0) continue;
      const changed = await this.#database.write([
        ...(before === undefined ? [] : [[before, now, bound, now] satisfies SqlStatement]),
        [`UPDATE ${table} SET ${column} = ? WHERE ${where} RETURNING 1`, now, bound],
      ]);
      count += changed.at(-1)?.length ?? 0;
    }
    return count;
  }
}
