/** A PostgreSQL database that any number of hubs share. */
import pg from 'pg';
import { withCertificateFault } from '../../../protocol/certificate-faults.ts';
import { type ErrorCode, VigieError } from '../../../protocol/errors.ts';
import type { HubLog } from '../../core/ports.ts';
import type { RetentionDays } from '../../core/retention.ts';
import { AUDIT_LOCK, ensureAudit } from '../audit.ts';
import { FORMAT, otherFormat } from '../format.ts';
import type { Select, SqlRow } from '../queries.ts';
import type { RegistryDatabase, SqlStatement } from '../registry.ts';
import type { SqlSteps } from '../steps.ts';
import type { Execute } from './execute.ts';
import { POSTGRES, schema } from './schema.ts';
import { beginUpgrade, continueUpgrade, PREVIOUS_FORMAT } from './upgrade.ts';

/** Number of read connections of a hub, for requests to its interface. */
const READERS = 6;
/** Number of write connections of a hub. Requests that wait for reads do not hold up the storage of messages. */
const WRITERS = 4;
/** Timeouts for the server in ms. */
const CONNECT_TIMEOUT = 10_000;
const QUERY_TIMEOUT = 60_000;
/** Key of pg_advisory_xact_lock, "vigi": if hubs start together, only one creates the tables. */
const CREATION = 0x76696769;

/** Starts a transaction. An acknowledged message must survive a crash of the server, whatever its configuration. */
const BEGIN = `BEGIN;
  SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`;

/** SQLSTATE of a server that closes or refuses connections: classes 08 and 57P, and too_many_connections. */
const AWAY = /^(08|57P|53300)/;
/** SQLSTATE undefined_table. */
const NO_TABLE = '42P01';
const AUDIT_EXISTS = "SELECT 1 FROM pg_class WHERE relname = 'audit' AND relnamespace = current_schema()::regnamespace";
/** SQLSTATE disk_full. */
const FULL = '53100';
const INT8 = 20;
const BYTEA = 17;

/** Error codes for which {@link PostgresDatabase.open} reports an unreadable database if its transaction fails. */
const OPENING_FAULTS: readonly ErrorCode[] = ['store.failed', 'database.away'];

/** Returns integers as numbers, since all are below 2^53, and bytes as Uint8Array instead of Buffer, as SQLite does. */
const types = {
  getTypeParser: ((oid: number, format?: 'text') => {
    if (oid === INT8) return Number;
    if (oid === BYTEA) return (text: string) => new Uint8Array(Buffer.from(text.slice(2), 'hex'));
    return pg.types.getTypeParser(oid, format);
  }) as typeof pg.types.getTypeParser,
};

export class PostgresDatabase implements RegistryDatabase {
  readonly #readers: pg.Pool;
  readonly #writers: pg.Pool;
  readonly #where: string;

  private constructor(pool: (connections: number) => pg.Pool, where: string) {
    this.#readers = pool(READERS);
    this.#writers = pool(WRITERS);
    this.#where = where;
  }

  /**
   * Connects, creates the tables in an empty database, and upgrades one of the previous format. `url`:
   * `postgres://user:password@host:port/database`. `days`: retention of messages, for the partitions of an upgrade.
   * Rejects with `usage.wrong` for another kind of URL and for a database of another format or program, and with
   * `input.unreadable` if the server cannot be reached or refuses the connection.
   */
  static async open(url: string, log: HubLog, days: RetentionDays = {}): Promise<PostgresDatabase> {
    const where = placeOf(url);
    const pool = (max: number): pg.Pool => {
      const made = new pg.Pool({
        connectionString: url,
        application_name: 'vigie hub',
        max,
        connectionTimeoutMillis: CONNECT_TIMEOUT,
        query_timeout: QUERY_TIMEOUT,
        keepAlive: true,
        types,
      });
      // An idle connection ended, for example because the server restarted. The next statement opens another.
      made.on('error', (error) => log.warn('hub.database.disconnected', { where, error: error.message }));
      return made;
    };
    const opened = new PostgresDatabase(pool, where);
    try {
      const isUpgraded = await opened.transaction((execute) => prepare(execute, where));
      if (isUpgraded) log.info('hub.database.upgrading', { where, format: FORMAT });
      while (await opened.transaction((execute) => upgraded(execute, days))) {
        // Each commit moves some of the messages.
      }
      await opened.steps(() => ensureAudit(AUDIT_LOCK, POSTGRES, AUDIT_EXISTS));
      return opened;
    } catch (error) {
      await opened.close();
      if (!(error instanceof VigieError) || !OPENING_FAULTS.includes(error.code)) throw error;
      throw unopened(where, error.cause);
    }
  }

  readonly select: Select = async (sql, ...values) => {
    try {
      return (await this.#readers.query<SqlRow>(numbered(sql), values)).rows;
    } catch (cause) {
      throw this.#failure(cause);
    }
  };

  /** Executes the steps in one commit. Rejects with `store.failed`. */
  steps<T>(steps: () => SqlSteps<T>): Promise<T> {
    return this.transaction((execute) => perform(execute, steps()));
  }

  /** Executes all statements in one commit. Returns the rows of each. Rejects with `store.failed`. */
  write(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]> {
    return this.transaction(async (execute) => {
      const rows: (readonly SqlRow[])[] = [];
      for (const [sql, ...values] of statements) rows.push(await execute(numbered(sql), values));
      return rows;
    });
  }

  /** As {@link write}: these tables have no foreign keys, so that there is no check to omit. */
  erase(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]> {
    return this.write(statements);
  }

  /** Rewrites every table, so that the old files with deleted data are removed. Rejects with `store.failed`. */
  async compact(): Promise<void> {
    const tables = await this.select(
      "SELECT format('%I', relname) AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'",
    );
    for (const { name } of tables) await this.#compactTable(name as string);
  }

  async scrub(table: string, statements: readonly SqlStatement[]): Promise<void> {
    await this.write(statements);
    await this.#compactTable(table);
  }

  /** Rewrites one table, without a timeout: for a large table this takes longer than other statements may. */
  async #compactTable(name: string): Promise<void> {
    try {
      await this.#writers.query({ text: `VACUUM FULL ANALYZE ${name}`, query_timeout: 0 } as pg.QueryConfig);
    } catch (cause) {
      // Retention drops partitions meanwhile.
      if ((cause as { readonly code?: unknown }).code === NO_TABLE) return;
      throw this.#failure(cause);
    }
  }

  /**
   * Runs `work` in a transaction. When this resolves, all its changes are on disk. Rejects with `store.failed`, and
   * then nothing is on disk, except if the connection was lost during the commit: then all changes may be on disk.
   */
  async transaction<T>(work: (execute: Execute) => Promise<T>): Promise<T> {
    let client: pg.PoolClient;
    try {
      client = await this.#writers.connect();
    } catch (cause) {
      throw this.#failure(cause);
    }
    const execute: Execute = async (sql, values = []) => (await client.query<SqlRow>(sql, [...values])).rows;
    // The server may also close a connection that is in use. The next statement then rejects.
    const ended = (): void => undefined;
    client.on('error', ended);
    let broken = false;
    try {
      await client.query(BEGIN);
      const result = await work(execute);
      await execute('COMMIT');
      return result;
    } catch (cause) {
      // If even the rollback fails, do not use the connection again.
      await execute('ROLLBACK').catch(() => {
        broken = true;
      });
      throw cause instanceof VigieError ? cause : this.#failure(cause);
    } finally {
      client.off('error', ended);
      client.release(broken);
    }
  }

  /** Resolves when all connections are closed. */
  async close(): Promise<void> {
    await Promise.all([this.#readers.end(), this.#writers.end()]);
  }

  #failure(cause: unknown): VigieError {
    const reason = reasonOf(cause);
    if (isAway(cause)) return new VigieError('database.away', reason, { where: this.#where, cause });
    const isFull = (cause as { readonly code?: unknown }).code === FULL;
    const text = isFull ? `${reason}: make room on the disk of the server; until then nothing is stored here` : reason;
    return new VigieError('store.failed', text, { where: this.#where, cause });
  }
}

/** Returns true if no server answered. Connection, system and `pg` errors are plain `Error`s; defects have a class. */
function isAway(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.every(isAway);
  if (cause instanceof pg.DatabaseError) return AWAY.test(cause.code ?? '');
  return cause instanceof Error && cause.constructor === Error;
}

/** Continues an upgrade. @returns false if the database needs no upgrade */
async function upgraded(execute: Execute, days: RetentionDays): Promise<boolean> {
  await execute('SELECT pg_advisory_xact_lock($1)', [CREATION]);
  return continueUpgrade(execute, days);
}

/** @returns true if this begins an upgrade */
async function prepare(execute: Execute, where: string): Promise<boolean> {
  await execute('SELECT pg_advisory_xact_lock($1)', [CREATION]);
  const [{ encoding, format, tables } = {}] = await execute(
    `SELECT current_setting('server_encoding') AS encoding, to_regclass('hub_format')::text AS format,
     (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r') AS tables`,
  );
  if (encoding !== 'UTF8') {
    throw new VigieError('usage.wrong', `has the encoding ${encoding}: create it with ENCODING 'UTF8'`, { where });
  }
  if (format === null) {
    if (tables !== 0) {
      throw new VigieError('usage.wrong', 'has tables of another program: create a database for the hub', { where });
    }
    await execute(schema);
    await execute('CREATE TABLE hub_format (format int NOT NULL)');
    await execute('INSERT INTO hub_format VALUES ($1)', [FORMAT]);
  }
  const [{ format: found } = {}] = await execute('SELECT format FROM hub_format');
  if (found === PREVIOUS_FORMAT) await beginUpgrade(execute);
  else if (found !== FORMAT) throw otherFormat(found as number, 'choose another database', where);
  return found === PREVIOUS_FORMAT;
}

/** Executes statements in sequence. */
export async function perform<T>(execute: Execute, steps: SqlSteps<T>): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    const [sql, ...values] = step.value;
    step = steps.next(await execute(numbered(sql), values));
  }
  return step.value;
}

/** Replaces each `?` by `$1`, `$2`, …. */
export function numbered(sql: string): string {
  let number = 0;
  return sql.replace(/\?/g, () => `$${++number}`);
}

/** Returns rows as columns for `unnest`. Passes numbers and NULL as array text: otherwise `pg` checks each one for escapes. */
export function columns(rows: readonly (readonly unknown[])[]): (unknown[] | string)[] {
  return (rows[0] ?? []).map((_, column) => {
    const values = rows.map((row) => row[column]);
    const isPlain = values.every((value) => typeof value === 'number' || value === null);
    return isPlain ? `{${values.map((value) => value ?? 'NULL').join(',')}}` : values;
  });
}

/** Returns the URL of the database without user and password. @throws VigieError `usage.wrong` */
export function placeOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new VigieError('usage.wrong', 'the database must be postgres://user:password@host:port/database');
  }
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

/** Returns the error for a server at `where` that cannot be reached or refuses the connection. */
export function unopened(where: string, cause: unknown): VigieError {
  const reason = `cannot be opened as the database of the hub: ${reasonOf(cause)}`;
  return new VigieError('input.unreadable', reason, { where, cause });
}

/** Returns the reason. If several addresses of a host failed, returns the reason of the first. */
function reasonOf(cause: unknown): string {
  const error: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  const text = error instanceof Error ? error.message : String(error);
  return withCertificateFault(text, cause, { server: 'the database', authority: 'sslrootcert in its URL' });
}
