/** The time of PostgreSQL, by which all hubs on a database agree on what is due, however wrong the clocks of their machines are. */
import pg from 'pg';
import type { Clock } from '../../../agent/ports.ts';
import { placeOf, unopened } from './database.ts';

/** Between two questions, ms: in between, the time is counted by spans, which no step of a clock changes. */
const EVERY = 60_000;
/** A server that does not answer is not waited for longer, ms. */
const TIMEOUT = 10_000;

export class DatabaseClock implements Clock {
  readonly #url: string;
  readonly #own: Clock;
  /** From the spans of this machine to the time of the database, ms. */
  #ahead = 0;
  #asked = 0;

  private constructor(url: string, own: Clock) {
    this.#url = url;
    this.#own = own;
  }

  /** Rejects with `usage.wrong` for another kind of URL, with `input.unreadable` where the server cannot be reached or refuses. */
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
      // While the database is away, the time advances by spans. Its users report that it is away.
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
    // A connection that is lost rejects the query too.
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
