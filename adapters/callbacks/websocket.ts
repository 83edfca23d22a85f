import { Backoff } from '../../agent/backoff.ts';
import type { Receipt } from '../../agent/callbacks/notifier.ts';
import type { NotificationChannel, WebsocketRequest } from './channel.ts';
import { type ConnectionOptions, WebsocketConnection } from './connection.ts';

/** Largest delay after the n-th failure in a row, ms: 10 s, 20 s, … a minute. */
const WAITS = { first: 10_000, longest: 60_000 };

export type WebsocketOptions = ConnectionOptions & {
  /** Returns numbers from 0 (included) to 1 (excluded). */
  readonly random?: () => number;
};

interface Line {
  readonly url: string;
  connection: WebsocketConnection | undefined;
  readonly backoff: Backoff;
}

/** Sends messages over one connection for each receiver; it opens with the first message and stays open. */
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

  /** Closes idle connections; the next messages open them again. */
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
    // Wait at least half of the delay before contacting a receiver that is down.
    const line: Line = { url, connection: undefined, backoff: new Backoff(WAITS, () => 0.5 + random() / 2) };
    this.#lines.set(receiver, line);
    return line;
  }
}
