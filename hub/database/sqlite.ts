/** Database of a hub without a database server: one SQLite file, to which one process writes. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { ensureAudit } from './audit.ts';
import { addedSince6, FORMAT, otherFormat, SQLITE, tables } from './format.ts';
import type { Select, SqlRow } from './queries.ts';
import { sqliteReadings } from './reading-tables.ts';
import { FILL_RECORD_COUNTS, sqliteCounts } from './record-counts.ts';
import type { RegistryDatabase, SqlStatement } from './registry.ts';
import type { SqlSteps } from './steps.ts';

const AUDIT_EXISTS = "SELECT 1 FROM sqlite_schema WHERE name = 'audit'";
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
   * Opens or creates the file. Rejects with `usage.wrong` if Node has no SQLite or the file has another format, and
   * with `input.unreadable` if the file is not the database of a hub.
   */
  static async open(file: string): Promise<SqliteDatabase> {
    const { DatabaseSync } = await sqlite(file);
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(file);
      // FULL: a commit is on disk when it returns, even after a power cut
      // (sqlite.org/pragma.html#pragma_synchronous).
      database.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000;',
      );
      const opened = new SqliteDatabase(database, file);
      opened.#prepare();
      if (opened.one(AUDIT_EXISTS) === undefined) {
        opened.transaction(() => opened.perform(ensureAudit('', SQLITE, AUDIT_EXISTS)));
      }
      return opened;
    } catch (cause) {
      database?.close();
      if (cause instanceof VigieError) throw cause;
      const reason = reasonOf(cause);
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

  /** @returns the number of written rows */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  /** Runs `work` in a transaction. When it returns, all or nothing is on disk. @throws VigieError `store.failed` */
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

  /** Executes the statements one after the other, within {@link transaction}. */
  perform<T>(steps: SqlSteps<T>): T {
    let step = steps.next();
    while (step.done !== true) {
      const [sql, ...values] = step.value;
      step = steps.next(this.all(sql, ...values));
    }
    return step.value;
  }

  /** Executes the steps in one commit. Rejects with `store.failed`. */
  async steps<T>(steps: () => SqlSteps<T>): Promise<T> {
    return this.transaction(() => this.perform(steps()));
  }

  /** Executes all statements in one commit. Returns the rows of each. Rejects with `store.failed`. */
  async write(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]> {
    return this.transaction(() => statements.map(([sql, ...values]) => this.all(sql, ...values)));
  }

  /** As {@link write}, but without checks for rows that refer to deleted ones. */
  async erase(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]> {
    this.#database.exec('PRAGMA foreign_keys = OFF');
    try {
      return this.transaction(() => statements.map(([sql, ...values]) => this.all(sql, ...values)));
    } finally {
      this.#database.exec('PRAGMA foreign_keys = ON');
    }
  }

  /** Rewrites the file and empties its log, so that they contain no deleted data. Rejects with `store.failed`. */
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

  /** Writes a copy of the present state to `path`, which must be empty or missing. Rejects with `store.failed`. */
  async copyTo(path: string): Promise<void> {
    try {
      this.#database.prepare('VACUUM INTO ?').run(path);
    } catch (cause) {
      throw this.#failure(cause);
    }
  }

  /** @throws VigieError `input.unreadable` if the file has damaged pages (sqlite.org/pragma.html#pragma_quick_check) */
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
    // A busy reader keeps the log until the next checkpoint.
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

  #prepare(): void {
    const { user_version: found } = this.one('PRAGMA user_version') as { user_version: number };
    if (found === FORMAT) return;
    const counts = sqliteCounts(SQLITE);
    if (found === 6) {
      const changes = `${addedSince6(SQLITE)} ${counts} ${FILL_RECORD_COUNTS}; ${sqliteReadings} PRAGMA user_version = ${FORMAT}`;
      this.transaction(() => this.#database.exec(changes));
      return;
    }
    if (found !== 0) throw otherFormat(found, 'choose another directory with --data', this.#where);
    if (this.one('SELECT 1 FROM sqlite_schema LIMIT 1') !== undefined) {
      throw new VigieError('input.unreadable', 'is the database of another program: choose another directory', {
        where: this.#where,
      });
    }
    this.transaction(() =>
      this.#database.exec(`${tables(SQLITE)} ${counts} ${sqliteReadings} PRAGMA user_version = ${FORMAT}`),
    );
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
