/** How long to wait before the next attempt. */

export interface BackoffOptions {
  /** Upper bound of the first wait, milliseconds. */
  readonly first: number;
  /** Upper bound of every wait, milliseconds. */
  readonly longest: number;
}

/**
 * Exponential back-off with full jitter: the n-th wait is evenly spread over 0 to min(longest, first × 2^n), so that
 * what lost its other end at one moment, a fleet its broker, does not come back at one moment.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: () => number;
  #attempt = 0;

  /** `random` gives numbers in 0 (included) to 1 (excluded). */
  constructor(options: BackoffOptions, random: () => number) {
    this.#options = options;
    this.#random = random;
  }

  /** Milliseconds to wait now. */
  next(): number {
    const bound = Math.min(this.#options.longest, this.#options.first * 2 ** this.#attempt);
    this.#attempt++;
    return this.#random() * bound;
  }

  /** The next wait is a first one again. */
  reset(): void {
    this.#attempt = 0;
  }
}
