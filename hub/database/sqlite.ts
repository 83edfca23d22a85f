/** The database of a hub without a database server: one SQLite file, written by one process. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { VigieError } from '../../protocol/errors.ts';
import { FORMAT, steps } from './format.ts';
import type { Select, SqlRow } from './queries.ts';
import type { RegistryDatabase, SqlStatement } from './registry.ts';
import type { SqlSteps } from './steps.ts';

/** SQLITE_FULL (sqlite.org/rescode.html). */
const FULL = 13;

export class SqliteDatabase implements RegistryDatabase {
  readonly #database: DatabaseSync;
  readonly #where: string;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(database: DatabaseSync, where: string) {
    this.#database = database;
    this.#where = where;
  }

  /**
   * Opens the file, makes it when it is not there, and brings its format up to date.
   * Rejects with `usage.wrong` where Node has no SQLite or the file was written by a newer Vigie, with
   * `input.unreadable` for a file that is not a database of a hub.
   */
  static async open(file: string): Promise<SqliteDatabase> {
    const { DatabaseSync } = await sqlite(file);
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(file);
      // FULL: a commit is on disk when it returns, also over a power cut (sqlite.org/pragma.html#pragma_synchronous).
      database.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000;',
      );
      const opened = new SqliteDatabase(database, file);
      opened.#upgrade();
      return opened;
    } catch (cause) {
      database?.close();
      if (cause instanceof VigieError) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new VigieError('input.unreadable', `cannot be opened as the database of the hub: ${reason}`, {
        where: file,
        cause,
      });
    }
  }

  all(sql: string, ...values: SQLInputValue[]): readonly SqlRow[] {
    return this.#statement(sql).all(...values) as unknown as readonly SqlRow[];
  }

  one(sql: string, ...values: SQLInputValue[]): SqlRow | undefined {
    return this.#statement(sql).get(...values) as unknown as SqlRow | undefined;
  }

  readonly select: Select = async (sql, ...values) => this.all(sql, ...values);

  /** @returns how many rows were written */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  /** Everything that `work` writes is on disk when this returns, or none of it. @throws VigieError `store.failed` */
  transaction<T>(work: () => T): T {
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (cause) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      if (cause instanceof VigieError) throw cause;
      throw this.#failure(cause);
    }
  }

  /** Statements one after the other, within {@link transaction}. */
  perform<T>(steps: SqlSteps<T>): T {
    let step = steps.next();
    while (step.done !== true) {
      const [sql, ...values] = step.value;
      step = steps.next(this.all(sql, ...values));
    }
    return step.value;
  }

  /** All statements in one commit; the rows that each returns. Rejects with `store.failed`. */
  async write(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]> {
    return this.transaction(() => statements.map(([sql, ...values]) => this.all(sql, ...values)));
  }

  /** As {@link write}, without looking for rows that refer to what is deleted. */
  async erase(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]> {
    this.#database.exec('PRAGMA foreign_keys = OFF');
    try {
      return this.transaction(() => statements.map(([sql, ...values]) => this.all(sql, ...values)));
    } finally {
      this.#database.exec('PRAGMA foreign_keys = ON');
    }
  }

  /** Rewrites the file and empties its log, so that no deleted data are left in them. Rejects with `store.failed`. */
  async compact(): Promise<void> {
    try {
      this.#database.exec('VACUUM');
      const [{ busy } = {}] = this.all('PRAGMA wal_checkpoint(TRUNCATE)');
      if (busy === 0) return;
    } catch (cause) {
      throw this.#failure(cause);
    }
    throw new VigieError('store.failed', 'another program reads the database all the time: end it, and try again', {
      where: this.#where,
    });
  }

  /** Writes a copy of the present state to `path`, which is empty or absent. Rejects with `store.failed`. */
  async copyTo(path: string): Promise<void> {
    try {
      this.#database.prepare('VACUUM INTO ?').run(path);
    } catch (cause) {
      throw this.#failure(cause);
    }
  }

  /** @throws VigieError `input.unreadable` for a file with damaged pages (sqlite.org/pragma.html#pragma_quick_check) */
  check(): void {
    const found = this.one('PRAGMA quick_check(1)')?.['quick_check'];
    if (found === 'ok') return;
    throw new VigieError('input.unreadable', `is damaged: ${String(found)}`, { where: this.#where });
  }

  /** Overwrites deleted rows (sqlite.org/pragma.html#pragma_secure_delete) and empties the log. */
  async scrub(_table: string, statements: readonly SqlStatement[]): Promise<void> {
    this.#database.exec('PRAGMA secure_delete = ON');
    try {
      await this.write(statements);
    } finally {
      this.#database.exec('PRAGMA secure_delete = OFF');
    }
    // A reader that is busy keeps the log until the next checkpoint.
    this.all('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  #failure(cause: unknown): VigieError {
    const { message, errcode } = cause as Error & { readonly errcode?: number };
    const text = errcode === FULL ? `${message}: make room on this disk; until then nothing is stored here` : message;
    return new VigieError('store.failed', text, { where: this.#where, cause });
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const made = this.#database.prepare(sql);
    this.#statements.set(sql, made);
    return made;
  }

  #upgrade(): void {
    const { user_version: found } = this.one('PRAGMA user_version') as { user_version: number };
    if (found > FORMAT) {
      const text = `was written by a newer Vigie (format ${found}; this one knows ${FORMAT}): install that version, or choose another directory with --data`;
      throw new VigieError('usage.wrong', text, { where: this.#where });
    }
    if (found === 0 && this.one('SELECT 1 FROM sqlite_schema LIMIT 1') !== undefined) {
      throw new VigieError('input.unreadable', 'is the database of another program: choose another directory', {
        where: this.#where,
      });
    }
    for (let format = found; format < FORMAT; format++) {
      this.transaction(() => {
        this.#database.exec(steps[format] as string);
        this.#database.exec(`PRAGMA user_version = ${format + 1}`);
      });
    }
  }
}

async function sqlite(where: string): Promise<typeof import('node:sqlite')> {
  try {
    return await import('node:sqlite');
  } catch (cause) {
    const text = `the hub needs SQLite, which Node ${process.versions.node} does not have: use Node 24 or newer`;
    throw new VigieError('usage.wrong', text, { where, cause });
  }
}
