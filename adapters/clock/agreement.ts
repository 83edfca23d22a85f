/** Consecutive fixes that agree on the wall time. */

/** Maximum difference in ms between the clock offsets of fixes that agree: receivers and lines have varying delays. */
const SPREAD = 500;
/** Gap in ms after which a fix starts a new row. */
const PAUSE = 60_000;
/** Number of recent fixes from which the one with the least delay is used. */
const KEPT = 16;

export class Agreement {
  /** Number of fixes in the row. */
  count = 0;
  /** Monotonic time in ms at which the row began. */
  since = 0;
  readonly #offsets: number[] = [];
  #last = Number.NEGATIVE_INFINITY;

  /**
   * Wall time minus monotonic time in ms, from the fix with the least delay among the last {@link KEPT}. A delay makes
   * the wall clock appear late, so the largest offset is nearest to the true one. NaN for an empty row.
   */
  get offset(): number {
    return this.#offsets.length === 0 ? Number.NaN : Math.max(...this.#offsets);
  }

  /** Continues the row. Starts a new row if the fix disagrees with it or follows after a long gap. */
  add(offset: number, received: number): void {
    const latest = this.#offsets;
    const least = Math.min(...latest, offset);
    const most = Math.max(...latest, offset);
    const gap = received - this.#last;
    if (most - least > SPREAD || gap > PAUSE || gap < 0) this.clear();
    if (this.count === 0) this.since = received;
    this.count++;
    this.#last = received;
    latest.push(offset);
    if (latest.length > KEPT) latest.shift();
  }

  clear(): void {
    this.count = 0;
    this.#offsets.length = 0;
  }
}
