/** Clock of PostgreSQL: all hubs on a database agree on due times, even if the clocks of their machines are wrong. */
import pg from 'pg';
import type { Clock } from '../../../agent/ports.ts';
import { placeOf, unopened } from './database.ts';

/** Time in ms between two queries of the database time. In between, the time advances with the monotonic clock. */
const EVERY = 60_000;
/** Timeout for the server in ms. */
const TIMEOUT = 10_000;

export class DatabaseClock implements Clock {
  readonly #url: string;
  readonly #own: Clock;
  /** Database time minus the monotonic time of this machine in ms. */
  #ahead = 0;
  #asked = 0;

  private constructor(url: string, own: Clock) {
    this.#url = url;
    this.#own = own;
  }

  /**
   * Opens the clock. Rejects with `usage.wrong` for another kind of URL, and with `input.unreadable` if the server is
   * unreachable or refuses the connection.
   */
  static async open(url: string, own: Clock): Promise<DatabaseClock> {
    const where = placeOf(url);
    const clock = new DatabaseClock(url, own);
    try {
      await clock.#ask();
    } catch (cause) {
      throw unopened(where, cause);
    }
    return clock;
  }

  now(): number {
    if (this.#own.monotonic() - this.#asked > EVERY) {
      // If the database is unreachable, the monotonic clock continues. Other code reports the failure.
      this.#ask().catch(() => undefined);
    }
    return Math.round(this.#own.monotonic() + this.#ahead);
  }

  monotonic(): number {
    return this.#own.monotonic();
  }

  after(delay: number, due: () => void): () => void {
    return this.#own.after(delay, due);
  }

  async #ask(): Promise<void> {
    this.#asked = this.#own.monotonic();
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'vigie hub: clock',
      connectionTimeoutMillis: TIMEOUT,
      query_timeout: TIMEOUT,
    });
    // Ignored, because the query also rejects when the connection is lost.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const sent = this.#own.monotonic();
      const { rows } = await client.query<{ time: number }>(
        'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS time',
      );
      this.#ahead = (rows[0] as { time: number }).time - (sent + this.#own.monotonic()) / 2;
    } finally {
      await client.end();
    }
  }
}
