/**
 * News of all hubs on a database, sent with LISTEN and NOTIFY of PostgreSQL. A notification is part of its commit and
 * reaches each connection that listens at that time. A hub gets no notification of commits during a lost connection:
 * its listeners are then informed that they may have missed news, and read again.
 */
import pg from 'pg';
import { Backoff } from '../../../agent/backoff.ts';
import type { HubLog, HubNews, News, NewsListener, Timer } from '../../core/ports.ts';
import { LocalNews } from '../news.ts';
import type { Execute } from './execute.ts';

const CHANNEL = 'vigie_news';
const CONNECT_TIMEOUT = 10_000;
/** Interval and timeout, in ms, of a statement that detects a vanished server. */
const BEAT = 10_000;
const AGAIN = { first: 250, longest: 10_000 };
/** Largest number of VINs in one notification of at most 8,000 bytes. A VIN needs up to 67 bytes, an id up to 17. */
const VINS = 100;
const EVENTS = 400;

/** Notifies listeners when the transaction of `execute` commits. */
export async function notify(execute: Execute, { vins, events }: News): Promise<void> {
  const parts: News[] = [];
  for (let at = 0; at < vins.length; at += VINS) parts.push({ vins: vins.slice(at, at + VINS), events: [] });
  for (let at = 0; at < events.length; at += EVENTS) parts.push({ vins: [], events: events.slice(at, at + EVENTS) });
  if (parts.length === 0) return;
  const payloads = parts.map((part) => JSON.stringify(part));
  await execute(`SELECT pg_notify('${CHANNEL}', payload) FROM unnest($1::text[]) AS payload`, [payloads]);
}

interface PostgresNewsParts {
  readonly url: string;
  readonly after: Timer;
  readonly log: HubLog;
}

export class PostgresNews implements HubNews {
  readonly #parts: PostgresNewsParts;
  readonly #local: LocalNews;
  readonly #backoff = new Backoff(AGAIN, () => 0.5 + Math.random() / 2);
  #client: pg.Client | undefined;
  #cancel: () => void = () => undefined;
  #stopped = false;

  constructor(parts: PostgresNewsParts) {
    this.#parts = parts;
    this.#local = new LocalNews((error) => parts.log.error('hub.news.failed', { error: String(error) }));
  }

  listen(listener: NewsListener): () => void {
    return this.#local.listen(listener);
  }

  /** Starts listening. Resolves after the first attempt, and retries automatically if that failed. Never rejects. */
  async begin(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#parts.url,
      application_name: 'vigie hub: news',
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      query_timeout: BEAT,
      keepAlive: true,
    });
    this.#client = client;
    client.on('error', (error) => this.#lost(client, error.message));
    client.on('end', () => this.#lost(client, 'the connection ended'));
    client.on('notification', ({ payload }) => this.#told(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      this.#lost(client, (error as Error).message);
      return;
    }
    this.#backoff.reset();
    this.#local.missed();
    this.#cancel = this.#parts.after(BEAT, () => this.#beat(client));
  }

  async end(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#client?.end();
  }

  #beat(client: pg.Client): void {
    client.query('SELECT 1').then(
      () => {
        if (this.#client === client && !this.#stopped) this.#cancel = this.#parts.after(BEAT, () => this.#beat(client));
      },
      (error: Error) => this.#lost(client, error.message),
    );
  }

  #lost(client: pg.Client, reason: string): void {
    if (this.#client !== client || this.#stopped) return;
    this.#client = undefined;
    this.#cancel();
    // The server does not answer, so do not wait until the connection has ended.
    client.end().catch(() => undefined);
    this.#parts.log.warn('hub.news.lost', { error: reason });
    this.#cancel = this.#parts.after(this.#backoff.next(), () => void this.begin());
  }

  #told(payload = ''): void {
    const news = readNews(payload);
    // Another program used the channel, so the meaning of the message is unknown.
    if (news === undefined) this.#local.missed();
    else this.#local.arrived(news);
  }
}

/** @returns undefined for a payload that no hub sent: not JSON, or with fields of other types. Ids start at 1. */
function readNews(payload: string): News | undefined {
  try {
    const { vins, events } = JSON.parse(payload) as Partial<Record<keyof News, unknown>>;
    return isArrayOf(vins, isText) && isArrayOf(events, isId) ? { vins, events } : undefined;
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

function isArrayOf<T>(value: unknown, isMember: (member: unknown) => member is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isMember);
}
