/**
 * Reads messages up to an id below which no hub can store another one. A statement locks the table of messages before it
 * takes ids from the sequence. So once the transactions that hold this lock have ended, all ids are settled that the
 * sequence had given before.
 */
import type { SettledReads } from '../exits.ts';
import { numbered, type PostgresDatabase } from './database.ts';
import type { Execute } from './execute.ts';
import { CHANGE } from './partitions.ts';

const LAST = 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM messages_id_seq';
const WRITERS = `SELECT virtualtransaction AS writer FROM pg_locks
  WHERE relation = 'messages'::regclass AND mode = 'RowExclusiveLock' AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

export function postgresExits(database: Pick<PostgresDatabase, 'transaction'>): SettledReads {
  const settled = new SettledIds();
  return (from, read) =>
    database.transaction(async (execute) => {
      // A partition that is attached meanwhile could hide messages from a statement that is planned before.
      const [{ locked } = {}] = await execute('SELECT pg_try_advisory_xact_lock_shared($1) AS locked', [CHANGE]);
      const end = (locked as unknown as boolean) ? await settled.end(execute) : from;
      return read((sql, ...values) => execute(numbered(sql), values), end);
    });
}

class SettledIds {
  #end = 0;
  /** The end once these transactions are over. */
  #awaited: { readonly end: number; readonly writers: readonly unknown[] } | undefined;

  /** Returns the first id that is not settled. */
  async end(execute: Execute): Promise<number> {
    if (this.#awaited === undefined) {
      const [{ last } = {}] = await execute(LAST);
      this.#awaited = { end: (last as number) + 1, writers: await writersIn(execute) };
    }
    const { end, writers } = this.#awaited;
    if (writers.length > 0) {
      const present = new Set(await writersIn(execute));
      if (writers.some((writer) => present.has(writer))) return this.#end;
    }
    this.#awaited = undefined;
    this.#end = end;
    return end;
  }
}

async function writersIn(execute: Execute): Promise<readonly unknown[]> {
  return (await execute(WRITERS)).map(({ writer }) => writer);
}
