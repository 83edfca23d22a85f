import { Backoff } from '../../agent/backoff.ts';
import type { Receipt } from '../../agent/callbacks/notifier.ts';
import type { NotificationChannel, WebsocketRequest } from './channel.ts';
import { type ConnectionOptions, WebsocketConnection } from './connection.ts';

/** Maximum delays in ms after consecutive failures: 10 s, 20 s, … up to a minute. */
const WAITS = { first: 10_000, longest: 60_000 };

export type WebsocketOptions = ConnectionOptions & {
  /** Returns random numbers from 0 (inclusive) to 1 (exclusive). */
  readonly random?: () => number;
};

interface Line {
  readonly url: string;
  connection: WebsocketConnection | undefined;
  readonly backoff: Backoff;
}

/** Sends messages over one connection per receiver, which opens with the first message and stays open. */
export class WebsocketChannel implements NotificationChannel<WebsocketRequest> {
  readonly #options: WebsocketOptions;
  readonly #lines = new Map<string, Line>();

  constructor(options: WebsocketOptions) {
    this.#options = options;
  }

  check(url: string, where: string): void {
    this.#options.addresses.check(url, where);
  }

  async deliver({ receiver, url, messages }: WebsocketRequest): Promise<Receipt> {
    const line = this.#line(receiver, url);
    if (line.connection === undefined || line.connection.closed) {
      try {
        this.#options.addresses.check(url, 'target');
        line.connection = new WebsocketConnection(url, this.#options);
      } catch (error) {
        return { outcome: 'failed', reason: (error as Error).message };
      }
    }
    const receipt = await line.connection.deliver(messages);
    if (receipt.outcome !== 'failed') {
      line.backoff.reset();
      return receipt;
    }
    if ((receipt.delivered ?? 0) > 0) line.backoff.reset();
    return { ...receipt, after: Math.round(line.backoff.next()) };
  }

  release(receiver: string): void {
    this.#lines.get(receiver)?.connection?.close();
    this.#lines.delete(receiver);
  }

  /** Closes idle connections; later messages open new ones. */
  rest(): void {
    for (const { connection } of this.#lines.values()) if (connection?.busy === false) connection.close();
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    for (const receiver of [...this.#lines.keys()]) this.release(receiver);
  }

  #line(receiver: string, url: string): Line {
    const known = this.#lines.get(receiver);
    if (known?.url === url) return known;
    known?.connection?.close();
    const { random = Math.random } = this.#options;
    // Wait at least half of the maximum delay before contacting a receiver that is down.
    const line: Line = { url, connection: undefined, backoff: new Backoff(WAITS, () => 0.5 + random() / 2) };
    this.#lines.set(receiver, line);
    return line;
  }
}
