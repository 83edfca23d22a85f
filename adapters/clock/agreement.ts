/** Fixes in a row that agree where the wall clock stands. */

/** Fixes agree when what they say of the clock differs by no more: receivers and lines take unequal time. ms */
const SPREAD = 500;
/** A fix this long after the one before it continues no row. ms */
const PAUSE = 60_000;
/** The latest fixes of which the promptest is believed. */
const KEPT = 16;

export class Agreement {
  /** Fixes in the row. */
  count = 0;
  /** Monotonic milliseconds at which the row began. */
  since = 0;
  readonly #offsets: number[] = [];
  #last = Number.NEGATIVE_INFINITY;

  /**
   * Wall time minus monotonic time by the fix of the last {@link KEPT} that came with the least delay. Delay makes the
   * wall clock appear late, so the largest is nearest to the truth. NaN for an empty row.
   */
  get offset(): number {
    return this.#offsets.length === 0 ? Number.NaN : Math.max(...this.#offsets);
  }

  /** Continues the row, or begins another when the fix disagrees with it or came long after it. */
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
