import { LONGEST_WATCH } from '../../protocol/watch.ts';
import type { Clock } from '../ports.ts';

/** Longest age in ms of a batch while a client watches, so that people see the car move. */
const PROMPT = 2_000;

/** Lease of a viewer of the live data. While it lasts, batches are published early, which costs more bytes. */
export class WatchLease {
  readonly #clock: Clock;
  /** Monotonic ms: a step of the clock neither ends nor extends the lease. */
  #end = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get watches(): boolean {
    return this.#clock.monotonic() < this.#end;
  }

  /** Call when a client watches until `until` (UTC ms), at most an hour. The longest of several leases counts. */
  watch(until: number): void {
    const span = Math.min(until - this.#clock.now(), LONGEST_WATCH);
    this.#end = Math.max(this.#end, this.#clock.monotonic() + span);
  }

  /** Returns for how many ms a publication may wait now, if it may wait `age` ms while no client watches. */
  readonly patience = (age: number): number => (this.watches ? Math.min(age, PROMPT) : age);
}
