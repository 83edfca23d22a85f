import type { Clock } from '../../agent/ports.ts';

/** Longest gap of a log in ms during which timers run. Nothing was recorded in a longer gap, so no event is missed. */
const LONGEST_SILENCE = 10 * 60_000;

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly due: () => void;
}

/** Time of the log. It advances only when its owner advances it, and calls due timers in order. */
export class ReplayClock implements Clock {
  #now = 0;
  #monotonic = 0;
  #started = false;
  #order = 0;
  readonly #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  /** Time of the log at which the next timer is due; Infinity without a timer. */
  get nextDue(): number {
    const next = this.#timers[0];
    return next === undefined ? Number.POSITIVE_INFINITY : this.#now + Math.max(0, next.at - this.#monotonic);
  }

  after(delay: number, due: () => void): () => void {
    const timer: Timer = { at: this.#monotonic + Math.max(0, delay), order: this.#order++, due };
    let place = this.#timers.length;
    while (place > 0 && (this.#timers[place - 1] as Timer).at > timer.at) place--;
    this.#timers.splice(place, 0, timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index >= 0) this.#timers.splice(index, 1);
    };
  }

  /** Advances the time to `at` in UTC ms. If `at` is earlier (a log that jumps back), leaves the time unchanged. */
  advanceTo(at: number): void {
    if (!this.#started) {
      this.#started = true;
      this.#now = at;
      return;
    }
    const served = Math.min(at, this.#now + LONGEST_SILENCE);
    for (let next = this.#timers[0]; next !== undefined && this.nextDue <= served; next = this.#timers[0]) {
      this.#timers.shift();
      // A timer that was due during a skipped gap is called late, never in the past.
      this.#pass(Math.max(0, next.at - this.#monotonic));
      next.due();
    }
    if (at > this.#now) this.#pass(at - this.#now);
  }

  #pass(elapsed: number): void {
    this.#now += elapsed;
    this.#monotonic += elapsed;
  }
}
