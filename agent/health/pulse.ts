import type { Clock } from '../ports.ts';

/** Tick delay in ms from which the event loop, or the agent, counts as blocked. */
const LATE = 15_000;
/** Time in ms after which an unfinished commit counts as stuck: the slowest flash takes some seconds. */
const UNCOMMITTED = 30_000;
/** Window in ms; the reported delay covers one to two windows. */
const WINDOW = 60_000;

/** Inputs of the pulse in addition to the agent's ticks. */
interface PulseParts {
  /** Returns the milliseconds since the oldest running commit started; 0 if no commit is running. */
  readonly commitWait: () => number;
  /** Returns the reason why a source counts as stuck, or undefined. */
  readonly stuckSource: () => string | undefined;
}

/**
 * Reports whether the pipeline makes progress. The tick of the agent drives the pulse, so the pulse stops if anything
 * blocks the tick, or an operation that the tick waits for.
 */
export class Pulse {
  readonly #clock: Clock;
  readonly #parts: PulseParts;
  #lastTick: number | undefined;
  /** Longest delays of the present window and of the previous one. */
  #worst = 0;
  #worstBefore = 0;
  #windowSince = 0;
  /** Interval in ms between the ticks of the agent; longer while the car sleeps. */
  #interval = 1_000;

  constructor(clock: Clock, parts: PulseParts) {
    this.#clock = clock;
    this.#parts = parts;
  }

  /** Call after each tick of the agent. */
  ticked(): void {
    const now = this.#clock.monotonic();
    if (now - this.#windowSince >= WINDOW) {
      this.#worstBefore = this.#worst;
      this.#worst = 0;
      this.#windowSince = now;
    }
    if (this.#lastTick !== undefined) this.#worst = Math.max(this.#worst, now - this.#lastTick - this.#interval);
    this.#lastTick = now;
  }

  /** Sets the interval in ms between ticks from now on: 1,000 in a car that is awake. */
  expectEvery(interval: number): void {
    this.#interval = interval;
    // The pending tick was scheduled with the previous interval.
    this.#lastTick = undefined;
  }

  /** Longest tick delay in ms in the last one to two minutes: the event loop's delay, without a timer. */
  get delay(): number {
    return Math.max(this.#worst, this.#worstBefore);
  }

  /** Returns the reason why the pipeline counts as stuck, or undefined if it makes progress. */
  stuck(): string | undefined {
    if (this.#lastTick !== undefined) {
      const late = this.#clock.monotonic() - this.#lastTick - this.#interval;
      if (late > LATE) return `the agent has not looked around for ${Math.round((late + this.#interval) / 1000)} s`;
    }
    const wait = this.#parts.commitWait();
    if (wait > UNCOMMITTED) return `a commit of the outbox has been under way for ${Math.round(wait / 1000)} s`;
    return this.#parts.stuckSource();
  }
}
