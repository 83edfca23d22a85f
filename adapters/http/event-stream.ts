/** Server-sent events (WHATWG HTML §9.2) of changing values: a slow reader gets only the newest value of each. */
import type { Clock } from '../../agent/ports.ts';

export interface StreamTimes {
  /** Interval in ms after which a silent stream sends a comment: proxies close silent connections. */
  readonly heartbeat: number;
  /** Minimum time in ms between two events of a stream: a screen need not show more than about 20 a second. */
  readonly pause: number;
}

interface StreamParts<K> {
  /** Values at the start of the stream, with their times in UTC ms. */
  readonly known: Iterable<readonly [key: K, at: number]>;
  /** Returns true if the stream may show the value. */
  readonly sees: (key: K) => boolean;
  /** Called when the event can be sent. Returns name, data, and the id from which a reconnecting client continues. */
  readonly event: (key: K, at: number) => readonly [name: string, data: object, id?: number];
  readonly clock: Clock;
  readonly times: StreamTimes;
  /** Time when the stream ends in UTC ms: the caller's credentials expire then. */
  readonly until: number;
  /** Called when the stream ends. */
  readonly gone: () => void;
}

/** A single stream. Each event is built only after the previous one was sent. */
export class EventStream<K> {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #parts: StreamParts<K>;
  /** Changed values and their times in UTC ms. Holds each value at most once. */
  readonly #noted = new Map<K, number>();
  readonly #encoder = new TextEncoder();
  #ended = false;
  #left = false;
  #wake: () => void = () => undefined;
  /** Time of the last event in monotonic ms. */
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

  /** Records a change. Never throws: a stream that fails ends without affecting the others. */
  note(key: K, at: number): void {
    try {
      if (!this.#parts.sees(key)) return;
      this.#noted.set(key, at);
    } catch {
      this.end();
    }
    this.#wake();
  }

  /** Number of changes that have not been sent. */
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
    // If the client disconnected, it has already closed the stream.
    if (this.#left) return;
    if (this.#ended) controller.close();
    else controller.enqueue(this.#encoder.encode(this.#noted.size === 0 ? ': still here\n\n' : this.#events()));
  }

  /** Resolves when `over` returns true, but no later than after `longest` ms. */
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

  /** Returns the first bytes of the stream. They ask a browser that loses the stream to reconnect after 3 s. */
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
