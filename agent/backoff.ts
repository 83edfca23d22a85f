/** Delays between attempts. */

export interface BackoffOptions {
  /** Upper bound of the first delay in ms. */
  readonly first: number;
  /** Upper bound of every delay in ms. */
  readonly longest: number;
}

/**
 * Exponential back-off: the n-th delay is a share of min(longest, first × 2^n). If the other end serves a fleet, the
 * share is random, so that cars that lost their broker at the same time do not all reconnect at the same time.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #share: () => number;
  #attempt: number;

  /** `share` returns 0 to 1. If omitted, each delay equals its bound. `attempt`: number of earlier delays. */
  constructor(options: BackoffOptions, share: () => number = () => 1, attempt = 0) {
    this.#options = options;
    this.#share = share;
    this.#attempt = attempt;
  }

  /** Returns the next delay in ms; `longest` limits only this delay. */
  next(longest = this.#options.longest): number {
    const bound = Math.min(longest, this.#options.first * 2 ** this.#attempt);
    this.#attempt++;
    return this.#share() * bound;
  }

  /** Makes the next delay a first one again. */
  reset(): void {
    this.#attempt = 0;
  }
}
