/** Server-sent events (WHATWG HTML §9.2) of values that change: a slow reader gets the newest and misses those between. */
import type { Clock } from '../../agent/ports.ts';

export interface StreamTimes {
  /** Silence after which a comment is sent, ms: proxies forget connections that say nothing. */
  readonly heartbeat: number;
  /** Least time between two events of a stream, ms: a screen shows no more than some 20 a second. */
  readonly pause: number;
}

interface StreamParts<K> {
  /** Values at the start of the stream, and their time, UTC ms. */
  readonly known: Iterable<readonly [key: K, at: number]>;
  /** Whether the stream shows it. */
  readonly sees: (key: K) => boolean;
  /** Name of the event, its data, when it can be sent, and its id, from which a returning client continues. */
  readonly event: (key: K, at: number) => readonly [name: string, data: object, id?: number];
  readonly clock: Clock;
  readonly times: StreamTimes;
  /** It ends at this moment, UTC ms: what it was opened with is not good for longer. */
  readonly until: number;
  /** Called once, when it ends. */
  readonly gone: () => void;
}

/** One stream. It requests the next event when the previous one was sent. */
export class EventStream<K> {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #parts: StreamParts<K>;
  /** Changed values and their times, UTC ms. Never longer than the list of all values. */
  readonly #noted = new Map<K, number>();
  readonly #encoder = new TextEncoder();
  #ended = false;
  #left = false;
  #wake: () => void = () => undefined;
  /** Monotonic ms. */
  #sent = Number.NEGATIVE_INFINITY;

  constructor(parts: StreamParts<K>) {
    this.#parts = parts;
    for (const [key, at] of parts.known) if (parts.sees(key)) this.#noted.set(key, at);
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => controller.enqueue(this.#introduction()),
      pull: (controller: ReadableStreamDefaultController<Uint8Array>) => this.#pull(controller),
      cancel: () => {
        this.#left = true;
        this.end();
      },
    };
    this.stream = new ReadableStream(source, { highWaterMark: 0 });
  }

  /** Never throws, so that one stream keeps no other from what it notes: a stream that fails ends. */
  note(key: K, at: number): void {
    try {
      if (!this.#parts.sees(key)) return;
      this.#noted.set(key, at);
    } catch {
      this.end();
    }
    this.#wake();
  }

  /** Changes that were not sent yet. */
  get waiting(): number {
    return this.#noted.size;
  }

  end(): void {
    this.#ended = true;
    this.#parts.gone();
    this.#wake();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { clock, times, until } = this.#parts;
    await this.#wait(this.#sent + times.pause - clock.monotonic(), () => this.#ended);
    const longest = Math.min(times.heartbeat, until - clock.now());
    await this.#wait(longest, () => this.#ended || this.#noted.size > 0);
    this.#sent = clock.monotonic();
    if (clock.now() >= until) this.end();
    // A client that disconnected has closed the stream already.
    if (this.#left) return;
    if (this.#ended) controller.close();
    else controller.enqueue(this.#encoder.encode(this.#noted.size === 0 ? ': still here\n\n' : this.#events()));
  }

  /** Resolves when `over` is true, and at the latest after `longest` ms. */
  #wait(longest: number, over: () => boolean): Promise<void> {
    if (over() || longest <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#wake = () => undefined;
        resolve();
      };
      const cancel = this.#parts.clock.after(longest, done);
      this.#wake = () => {
        if (over()) done();
      };
    });
  }

  /** A browser that loses the stream is to come again after 3 s. */
  #introduction(): Uint8Array {
    const events = this.#noted.size === 0 ? '' : this.#events();
    return this.#encoder.encode(`retry: 3000\n\n${events}`);
  }

  #events(): string {
    const texts: string[] = [];
    for (const [key, at] of this.#noted) {
      const [name, data, id] = this.#parts.event(key, at);
      texts.push(`event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
    }
    this.#noted.clear();
    return texts.join('');
  }
}
