/** Collects frames that arrive together and assigns their times. */
import type { Clock, FrameBatch } from '../../../agent/ports.ts';
import { append, createBatch } from '../frames.ts';
import type { SlcanFrame } from './codec.ts';

const CAPACITY = 256;
/** Maximum age in ms of a usable time stamp before the last frame's. More means an adapter restart or a full queue. */
const BELIEVED = 1_000;

export class FrameIntake {
  readonly #clock: Clock;
  readonly #receive: (batch: FrameBatch) => void;
  readonly #batch = createBatch(CAPACITY, CAPACITY * 64);
  readonly #stamps = new Float64Array(CAPACITY);
  #wrap = 0;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, receive: (batch: FrameBatch) => void) {
    this.#clock = clock;
    this.#receive = receive;
  }

  add({ id, flags, length, data, stamp, wrap }: SlcanFrame): void {
    if (this.#batch.count === CAPACITY) this.flush();
    this.#stamps[this.#batch.count] = stamp;
    this.#wrap = wrap;
    append(this.#batch, 0, id, 0, flags, data, length);
  }

  /**
   * Emits the collected frames. The last frame gets the current time, and earlier frames the time according to the
   * adapter's stamps, but never before a previous frame.
   */
  flush(): void {
    const batch = this.#batch;
    const { count, at } = batch;
    if (count === 0) return;
    const now = this.#clock.now();
    if (this.#latest > now) this.#latest = now;
    const last = this.#stamps[count - 1] as number;
    for (let i = 0; i < count; i++) {
      const since = (((last - (this.#stamps[i] as number)) % this.#wrap) + this.#wrap) % this.#wrap;
      const time = since <= BELIEVED ? now - since : now;
      this.#latest = Math.max(this.#latest, time);
      at[i] = this.#latest;
    }
    this.#receive(batch);
    batch.count = 0;
  }
}
