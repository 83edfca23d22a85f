/** Advisory locks of PostgreSQL, each on a separate connection: the server releases a lock when its connection ends. */
import pg from 'pg';
import { reasonOf, VigieError } from '../../../protocol/errors.ts';
import type { HeldLock, HubLocks } from '../../core/ports.ts';

/** First key of these locks, "vigi". The second key is the hash of the name. */
const SPACE = 0x76696769;
const CONNECT_TIMEOUT = 10_000;
/** SQLSTATE of a lock that was not available within `lock_timeout`. */
const NOT_AVAILABLE = '55P03';

/** Short keepalives: after its machine has failed, a hub must not hold its locks for two hours, the default of TCP. */
const SESSION = `SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
  SET tcp_user_timeout = '30s'`;

export class PostgresLocks implements HubLocks {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async place(): Promise<string> {
    const client = new pg.Client({ connectionString: this.#url, connectionTimeoutMillis: CONNECT_TIMEOUT });
    // Ignored, because the query also rejects when the connection is lost.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ place: string }>(
        `SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || oid AS place
         FROM pg_database WHERE datname = current_database()`,
      );
      return rows[0]?.place ?? '';
    } catch (cause) {
      throw new VigieError('store.failed', reasonOf(cause), { cause });
    } finally {
      await client.end();
    }
  }

  async acquire(
    name: string,
    { patience, signal }: { readonly patience?: number; readonly signal?: AbortSignal },
  ): Promise<HeldLock | undefined> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: `vigie hub: ${name}`,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    const lost = new Promise<string>((resolve) => {
      client.on('error', (error) => resolve(error.message));
      client.on('end', () => resolve('the connection to the database ended'));
    });
    // Also ends a waiting statement.
    const abort = (): void => void client.end();
    try {
      await client.connect();
      signal?.addEventListener('abort', abort);
      if (signal?.aborted === true) abort();
      await client.query(`${SESSION}; SET lock_timeout = ${Math.round(patience ?? 0)}`);
      await client.query('SELECT pg_advisory_lock($1, hashtext($2))', [SPACE, name]);
      return { lost, release: () => client.end() };
    } catch (cause) {
      await client.end();
      if (signal?.aborted === true || (cause as { code?: unknown }).code === NOT_AVAILABLE) return undefined;
      throw new VigieError('store.failed', reasonOf(cause), { cause });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }
}
