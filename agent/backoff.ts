/** How long to wait before the next attempt. */

export interface BackoffOptions {
  /** Upper bound of the first wait, milliseconds. */
  readonly first: number;
  /** Upper bound of every wait, milliseconds. */
  readonly longest: number;
}

/**
 * Exponential back-off: the n-th wait is a share of min(longest, first × 2^n). Where the other end serves a fleet, the
 * share is drawn by chance: cars that lost their broker at one moment do not come back at one moment.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #share: () => number;
  #attempt: number;

  /** `share` returns 0 to 1; without it each wait is as long as its bound. `attempt`: number of earlier waits. */
  constructor(options: BackoffOptions, share: () => number = () => 1, attempt = 0) {
    this.#options = options;
    this.#share = share;
    this.#attempt = attempt;
  }

  /** Milliseconds to wait now; `longest` bounds this wait alone. */
  next(longest = this.#options.longest): number {
    const bound = Math.min(longest, this.#options.first * 2 ** this.#attempt);
    this.#attempt++;
    return this.#share() * bound;
  }

  /** The next wait is a first one again. */
  reset(): void {
    this.#attempt = 0;
  }
}
