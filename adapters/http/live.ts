/**
 * Changes of Status as server-sent events (WHATWG HTML §9.2), for screens. Each stream begins with all known values. It
 * sends the value that is current when it can send: a slow screen gets the newest values and misses intermediate ones.
 * Values that the people in the car hide are not in Status.
 */

import type { StatusListener, StatusObserver } from '../../agent/model/status.ts';
import type { Clock } from '../../agent/ports.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { shownValue } from '../../protocol/interface/json/shown-value.ts';
import { type Slot, slots } from '../../protocol/slots.ts';
import { TooManyRequests } from './access/failures.ts';
import { EventStream, type StreamTimes } from './event-stream.ts';

interface LiveOptions extends StreamTimes {
  /** Maximum number of open streams. */
  readonly streams: number;
}

const DEFAULT: LiveOptions = { streams: 16, heartbeat: 15_000, pause: 50 };

/** Returns true if a stream may show the value. */
type Sees = (slot: Slot) => boolean;

export class LiveChanges implements StatusObserver {
  readonly #status: StatusListener;
  readonly #clock: Clock;
  readonly #options: LiveOptions;
  readonly #viewers = new Set<EventStream<Slot>>();

  constructor(status: StatusListener, clock: Clock, options: Partial<LiveOptions> = {}) {
    this.#status = status;
    this.#clock = clock;
    this.#options = { ...DEFAULT, ...options };
  }

  /** Number of open streams. */
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
   * Opens a stream that ends at `until` in UTC ms, when the caller's credentials expire.
   * @throws TooManyRequests if the maximum number of streams is already open
   */
  open(sees: Sees, until = Number.POSITIVE_INFINITY): ReadableStream<Uint8Array> {
    if (this.#viewers.size >= this.#options.streams) throw new TooManyRequests('all live streams are taken', 10_000);
    const gone = (): boolean => this.#viewers.delete(viewer);
    const viewer: EventStream<Slot> = new EventStream({
      known: slots
        .filter((slot) => this.#status.value(slot) !== undefined)
        .map((slot) => [slot, this.#status.changedAt(slot)]),
      sees,
      clock: this.#clock,
      times: this.#options,
      until,
      gone,
      event: (slot, at) => this.#event(slot, at),
    });
    this.#viewers.add(viewer);
    return viewer.stream;
  }

  /** Ends all streams. */
  close(): void {
    for (const viewer of this.#viewers) viewer.end();
  }

  #event(slot: Slot, noted: number): readonly [name: string, data: object] {
    const value = this.#status.value(slot);
    const { path } = slot;
    const at = dateTime(noted);
    if (value === undefined) return ['removed', { path, at }];
    return [
      'change',
      { path, value: shownValue(slot, value), at, stale: !this.#status.fresh(slot, this.#clock.now()) },
    ];
  }

  #tell(slot: Slot, at: number): void {
    for (const viewer of this.#viewers) viewer.note(slot, at);
  }
}
