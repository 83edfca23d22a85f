import { LONGEST_WATCH } from '../../protocol/watch.ts';
import type { Clock } from '../ports.ts';

/** Longest age of a batch while a client watches, ms: people see the car move. */
const PROMPT = 2_000;

/** Lease of a viewer of the live data. While it lasts, batches that save bytes are published early. */
export class WatchLease {
  readonly #clock: Clock;
  /** Monotonic ms: a step of the clock neither ends nor extends it. */
  #end = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get watches(): boolean {
    return this.#clock.monotonic() < this.#end;
  }

  /** A client watches until `until`, UTC ms, at most an hour. The longest of several leases counts. */
  watch(until: number): void {
    const span = Math.min(until - this.#clock.now(), LONGEST_WATCH);
    this.#end = Math.max(this.#end, this.#clock.monotonic() + span);
  }

  /** Returns how long a publication may wait that waits `age` ms while no client watches. */
  readonly patience = (age: number): number => (this.watches ? Math.min(age, PROMPT) : age);
}
