import { LONGEST_WATCH } from '../../protocol/watch.ts';
import type { Clock } from '../ports.ts';

/** Longest age of a batch while somebody watches, ms: the eye sees a car move. */
const PROMPT = 2_000;

/** A viewer of the live data holds a lease; while it lasts, batches that save bytes are published early. */
export class WatchLease {
  readonly #clock: Clock;
  /** Monotonic ms: a clock that steps neither ends it nor makes it last. */
  #end = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get watches(): boolean {
    return this.#clock.monotonic() < this.#end;
  }

  /** Somebody watches until then, UTC ms, an hour at most. Of several it counts who watches longest. */
  watch(until: number): void {
    const span = Math.min(until - this.#clock.now(), LONGEST_WATCH);
    this.#end = Math.max(this.#end, this.#clock.monotonic() + span);
  }

  /** How long a publication may wait that waits `age` ms while no client watches. */
  readonly patience = (age: number): number => (this.watches ? Math.min(age, PROMPT) : age);
}
