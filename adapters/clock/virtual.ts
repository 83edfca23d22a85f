import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { CarClock } from './system.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly due: () => void;
}

/**
 * Clock that its owner advances, for tests and simulations. Timers fire in the order of their due times; timers with
 * the same due time fire in the order in which they were set.
 */
export class VirtualClock implements CarClock {
  #wall: number;
  #elapsed = 0;
  #set = 0;
  readonly #timers = new Set<Timer>();
  readonly #held = new Set<Promise<unknown>>();

  /** @param now the initial wall time in UTC ms */
  constructor(now = Date.UTC(2026, 0, 1, 12)) {
    this.#wall = now;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  quality(): ClockQuality {
    return 'ntp';
  }

  agreed(): number {
    return this.#wall;
  }

  /** Does nothing: fixes do not change this clock. */
  discipline(): void {}

  after(delay: number, due: () => void): () => void {
    const timer: Timer = { at: this.#elapsed + Math.max(0, delay), order: this.#set++, due };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Number of active timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Steps only the wall clock, by `by` ms (may be negative), as when the time becomes known. */
  step(by: number): void {
    this.#wall += by;
  }

  /** Advances the time by `ms` and calls due timers, including timers set by timers, each at its due time. */
  advance(ms: number): void {
    const end = this.#elapsed + ms;
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#timers.delete(timer);
      this.#pass(timer.at);
      timer.due();
    }
    this.#pass(end);
  }

  /** Advances the time by `ms` in one step, as if the process was suspended: due timers are called late, at the end. */
  stall(ms: number): void {
    this.#pass(this.#elapsed + ms);
    this.advance(0);
  }

  /** Makes {@link settle} wait for work that takes no time of this clock, such as reading a file. */
  hold(work: Promise<unknown>): void {
    this.#held.add(work);
    const release = (): void => void this.#held.delete(work);
    work.then(release, release);
  }

  /**
   * Calls {@link advance} in steps of at most `step` ms and lets promises settle between steps, for code that awaits
   * between its timers.
   */
  async settle(ms: number, step = 10): Promise<void> {
    for (let left = ms; left > 0; left -= step) {
      while (this.#held.size > 0) await Promise.allSettled(this.#held);
      this.advance(Math.min(step, left));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > end) continue;
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
    }
    return next;
  }

  #pass(moment: number): void {
    const by = Math.max(0, moment - this.#elapsed);
    this.#elapsed += by;
    this.#wall += by;
  }
}
