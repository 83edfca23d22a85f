/** One connection to a websocket receiver: frames, acknowledgements, pings. docs/callbacks.md, "Websocket". */

import { type RawData, WebSocket } from 'ws';
import type { Receipt } from '../../agent/callbacks/notifier.ts';
import { defined } from '../../protocol/defined.ts';
import type { Addresses } from './addresses.ts';
import type { NotificationMessage } from './channel.ts';
import { failure } from './failures.ts';

/** Time in ms without progress after which the delivery has failed. */
const TIMEOUT = 10_000;
/** Interval of pings in ms. A receiver that has not responded to a ping before the next one is considered gone. */
const PING = 30_000;
/** Time limit in ms for the closing handshake. */
const FAREWELL = 1_000;
/** Maximum size in bytes of an acknowledgement, which contains only an id. */
const LONGEST_ANSWER = 4096;

export interface ConnectionOptions {
  readonly addresses: Addresses;
  readonly ca?: string;
  /** See {@link TIMEOUT}. */
  readonly timeout?: number;
  /** See {@link PING}. */
  readonly ping?: number;
}

/** Messages that are being delivered. */
interface Batch {
  readonly messages: readonly NotificationMessage[];
  /** Number of notifications acknowledged so far; they are the first ones in `messages`. */
  delivered: number;
  readonly settle: (receipt: Receipt) => void;
}

export class WebsocketConnection {
  readonly #socket: WebSocket;
  readonly #timeout: number;
  #batch: Batch | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #heart: NodeJS.Timeout;
  #alive = true;
  #open = false;
  #fault: unknown;
  #closed = false;
  /** Id of the last event that the receiver says it received, sent when the connection opened. */
  #last: string | undefined;

  /** Starts to connect. @throws Error for a host that is not permitted */
  constructor(url: string, { addresses, ca, timeout = TIMEOUT, ping = PING }: ConnectionOptions) {
    const refusal = addresses.refusal(new URL(url).hostname);
    if (refusal !== undefined) throw refusal;
    this.#timeout = timeout;
    this.#socket = new WebSocket(url, 'vigie.events.1', {
      lookup: addresses.lookup,
      followRedirects: false,
      handshakeTimeout: timeout,
      maxPayload: LONGEST_ANSWER,
      perMessageDeflate: false,
      ...defined({ ca }),
    });
    this.#socket.on('upgrade', ({ headers }) => {
      const last = headers['vigie-last-event-id'];
      this.#last = typeof last === 'string' ? last : undefined;
    });
    this.#socket.on('open', () => this.#opened());
    this.#socket.on('message', (data) => this.#message(data));
    this.#socket.on('pong', () => {
      this.#alive = true;
    });
    this.#socket.on('error', (error) => {
      this.#fault = error;
    });
    this.#socket.on('close', (code) => this.#ended(code));
    this.#heart = setInterval(() => this.#beat(), ping);
    this.#heart.unref();
  }

  /** True while messages are being delivered. */
  get busy(): boolean {
    return this.#batch !== undefined;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Sends the messages in order. Resolves when all are acknowledged, or if the connection is lost or silent. */
  deliver(messages: readonly NotificationMessage[]): Promise<Receipt> {
    if (this.#closed) return Promise.resolve({ outcome: 'failed', reason: 'the connection is closed' });
    return new Promise((settle) => {
      this.#batch = { messages, delivered: 0, settle };
      this.#watch();
      if (this.#open) this.#send();
    });
  }

  /** Closes the connection. Messages that are not acknowledged will be sent over another one. */
  close(): void {
    this.#socket.close(1000);
    // A receiver may never respond to the closing handshake, so limit the wait.
    const patience = setTimeout(() => this.#socket.terminate(), FAREWELL);
    this.#socket.once('close', () => clearTimeout(patience));
    this.#finish({ outcome: 'failed', reason: 'the connection was closed' });
    clearInterval(this.#heart);
    this.#closed = true;
  }

  #opened(): void {
    this.#open = true;
    if (this.#batch === undefined) return;
    if (this.#last !== undefined) this.#acknowledge(this.#last);
    this.#send();
  }

  #send(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    for (const { id, content } of batch.messages.slice(batch.delivered)) {
      this.#socket.send(JSON.stringify({ id, message: content }));
    }
  }

  #message(data: RawData): void {
    this.#alive = true;
    let frame: unknown;
    try {
      frame = JSON.parse(String(data));
    } catch {
      // A message that is not JSON acknowledges nothing.
      return;
    }
    const ack = typeof frame === 'object' && frame !== null ? (frame as { ack?: unknown }).ack : undefined;
    if (typeof ack === 'string') this.#acknowledge(ack);
  }

  /** Records that the receiver has this message and all previous ones. */
  #acknowledge(id: string): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    const index = batch.messages.findIndex((message) => message.id === id);
    if (index < batch.delivered) return;
    batch.delivered = index + 1;
    if (batch.delivered === batch.messages.length) this.#finish({ outcome: 'delivered' });
    else this.#watch();
  }

  #watch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#fault = new Error(`no acknowledgement within ${this.#timeout} ms`);
      this.#socket.terminate();
    }, this.#timeout);
  }

  #beat(): void {
    if (!this.#open) return;
    if (!this.#alive) {
      this.#fault = new Error('no answer to a ping');
      this.#socket.terminate();
      return;
    }
    this.#alive = false;
    this.#socket.ping();
  }

  #ended(code: number): void {
    this.#closed = true;
    clearInterval(this.#heart);
    const lost: Receipt = { outcome: 'failed', reason: `the receiver closed the connection (${code})` };
    this.#finish(this.#fault === undefined ? lost : failure(this.#fault));
  }

  #finish(receipt: Receipt): void {
    clearTimeout(this.#timer);
    const batch = this.#batch;
    this.#batch = undefined;
    if (batch === undefined) return;
    const { delivered } = batch;
    if (receipt.outcome === 'delivered' || delivered === 0) batch.settle(receipt);
    else batch.settle({ outcome: 'failed', reason: receipt.reason, delivered });
  }
}
