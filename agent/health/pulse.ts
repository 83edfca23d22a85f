import type { Clock } from '../ports.ts';

/** A tick that is this late means that the event loop, or the agent, stands still, ms. */
const LATE = 15_000;
/** A commit without a result counts as stuck after this time, ms: the slowest flash takes some seconds. */
const UNCOMMITTED = 30_000;
/** The reported delay covers one to two such windows, ms. */
const WINDOW = 60_000;

/** Inputs of the pulse in addition to the tick. */
interface PulseParts {
  /** Milliseconds since the oldest commit under way began; 0: no commit is under way. */
  readonly commitWait: () => number;
  /** Why a source counts as stuck; undefined: none does. */
  readonly stuckSource: () => string | undefined;
}

/**
 * Says whether the pipeline moves. The tick of the agent beats it, so nothing that stops the tick, or that the tick
 * waits for, leaves it beating.
 */
export class Pulse {
  readonly #clock: Clock;
  readonly #parts: PulseParts;
  #lastTick: number | undefined;
  /** Longest delays of the present window and of the previous one. */
  #worst = 0;
  #worstBefore = 0;
  #windowSince = 0;
  /** The agent looks around this often, ms; longer while the car sleeps. */
  #interval = 1_000;

  constructor(clock: Clock, parts: PulseParts) {
    this.#clock = clock;
    this.#parts = parts;
  }

  /** The tick of the agent ran to its end. */
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

  /** From now on ticks come this far apart, ms: 1,000 in a car that is awake. */
  expectEvery(interval: number): void {
    this.#interval = interval;
    // The tick that was under way came by the interval before.
    this.#lastTick = undefined;
  }

  /** Longest tick delay in the last one to two minutes, ms: the event loop's delay, without a timer. */
  get delay(): number {
    return Math.max(this.#worst, this.#worstBefore);
  }

  /** Why the pipeline counts as stuck; undefined: it moves. */
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
