/**
 * Changes of Status as server-sent events (WHATWG HTML §9.2), for screens. Each stream begins with all that is known.
 * What is sent is what Status says when the stream can take it: a slow screen sees the newest values and misses those
 * between, and what the people in the car keep to themselves is not in Status.
 */
import type { Clock } from '../../agent/ports.ts';
import type { StatusListener, StatusObserver } from '../../agent/status.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { type Slot, slots } from '../../protocol/slots.ts';
import { TooManyRequests } from './access/failures.ts';

export interface LiveOptions {
  /** Streams at a time. */
  readonly streams: number;
  /** Silence after which a comment is sent, ms: proxies forget connections that say nothing. */
  readonly heartbeat: number;
  /** Least time between two events of a stream, ms: a screen shows no more than some 20 a second. */
  readonly pause: number;
}

const DEFAULT: LiveOptions = { streams: 16, heartbeat: 15_000, pause: 50 };

/** Whether a stream shows a value. */
type Sees = (slot: Slot) => boolean;

export class LiveChanges implements StatusObserver {
  readonly #status: StatusListener;
  readonly #clock: Clock;
  readonly #options: LiveOptions;
  readonly #viewers = new Set<Viewer>();

  constructor(status: StatusListener, clock: Clock, options: Partial<LiveOptions> = {}) {
    this.#status = status;
    this.#clock = clock;
    this.#options = { ...DEFAULT, ...options };
  }

  /** Streams that are open. */
  get streams(): number {
    return this.#viewers.size;
  }

  changed(slot: Slot, _value: unknown, _previous: unknown, at: number): void {
    this.#tell(slot, at);
  }

  removed(slot: Slot, _previous: unknown, at: number): void {
    this.#tell(slot, at);
  }

  stale(slot: Slot, _stale: boolean, at: number): void {
    this.#tell(slot, at);
  }

  /**
   * The stream ends at `until`, UTC ms: what it was opened with is not good for longer.
   * @throws TooManyRequests when as many streams are open as may be
   */
  open(sees: Sees, until = Number.POSITIVE_INFINITY): ReadableStream<Uint8Array> {
    if (this.#viewers.size >= this.#options.streams) throw new TooManyRequests('all live streams are taken', 10_000);
    const gone = (): boolean => this.#viewers.delete(viewer);
    const viewer = new Viewer(this.#status, this.#clock, this.#options, sees, until, gone);
    this.#viewers.add(viewer);
    return viewer.stream;
  }

  /** Ends all streams. */
  close(): void {
    for (const viewer of this.#viewers) viewer.end();
  }

  #tell(slot: Slot, at: number): void {
    for (const viewer of this.#viewers) viewer.note(slot, at);
  }
}

/** One stream. It is asked for the next event when what was sent before has gone out. */
class Viewer {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #status: StatusListener;
  readonly #clock: Clock;
  readonly #options: LiveOptions;
  readonly #sees: Sees;
  /** UTC ms. */
  readonly #until: number;
  readonly #gone: () => void;
  /** Changed slots and when they changed, UTC ms. No longer than the list of slots. */
  readonly #noted = new Map<Slot, number>();
  readonly #encoder = new TextEncoder();
  #ended = false;
  #left = false;
  #wake: () => void = () => undefined;
  /** Monotonic ms. */
  #sent = Number.NEGATIVE_INFINITY;

  constructor(status: StatusListener, clock: Clock, options: LiveOptions, sees: Sees, until: number, gone: () => void) {
    this.#status = status;
    this.#clock = clock;
    this.#options = options;
    this.#sees = sees;
    this.#until = until;
    this.#gone = gone;
    for (const slot of slots) {
      if (status.value(slot) !== undefined && sees(slot)) this.#noted.set(slot, status.changedAt(slot));
    }
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

  note(slot: Slot, at: number): void {
    if (!this.#sees(slot)) return;
    this.#noted.set(slot, at);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#gone();
    this.#wake();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    await this.#wait(this.#sent + this.#options.pause - this.#clock.monotonic(), () => this.#ended);
    const longest = Math.min(this.#options.heartbeat, this.#until - this.#clock.now());
    await this.#wait(longest, () => this.#ended || this.#noted.size > 0);
    this.#sent = this.#clock.monotonic();
    if (this.#clock.now() >= this.#until) this.end();
    // Whoever went away has closed it already.
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
      const cancel = this.#clock.after(longest, done);
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
    const now = this.#clock.now();
    const texts: string[] = [];
    for (const [slot, noted] of this.#noted) {
      const value = this.#status.value(slot);
      const at = dateTime(noted);
      const data =
        value === undefined
          ? { path: slot.path, at }
          : { path: slot.path, value: shown(slot, value), at, stale: !this.#status.fresh(slot, now) };
      texts.push(`event: ${value === undefined ? 'removed' : 'change'}\ndata: ${JSON.stringify(data)}\n\n`);
    }
    this.#noted.clear();
    return texts.join('');
  }
}

function shown(slot: Slot, value: unknown): unknown {
  return slot.kind === 'instant' && typeof value === 'number' ? dateTime(value) : value;
}
