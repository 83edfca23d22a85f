/** Number of intervals stored for the median. */
const CAPACITY = 512;

const NONE = new Float64Array(0);

/** Times between consecutive frames of one identifier, in milliseconds. Memory is bounded. */
export class Intervals {
  count = 0;
  minimum = Number.POSITIVE_INFINITY;
  maximum = 0;
  #kept: Float64Array = NONE;
  #random = 1;

  /** Adds an interval. Negative intervals, where a log goes back in time, are not counted. */
  add(interval: number): void {
    if (!(interval >= 0)) return;
    if (interval < this.minimum) this.minimum = interval;
    if (interval > this.maximum) this.maximum = interval;
    const place = this.count < CAPACITY ? this.count : this.#draw();
    this.count++;
    if (place >= CAPACITY) return;
    if (place >= this.#kept.length) {
      const larger = new Float64Array(Math.min(CAPACITY, Math.max(8, this.#kept.length * 4)));
      larger.set(this.#kept);
      this.#kept = larger;
    }
    this.#kept[place] = interval;
  }

  /**
   * The median; exact for up to 512 intervals, for more of a uniform sample of 512 (Vitter's algorithm R). Undefined
   * without intervals.
   */
  get median(): number | undefined {
    return this.#quantile(0.5);
  }

  /** Half the span from the 5th to the 95th percentile of the intervals, so that a single pause does not count. */
  get jitter(): number | undefined {
    const low = this.#quantile(0.05);
    const high = this.#quantile(0.95);
    return low === undefined || high === undefined ? undefined : (high - low) / 2;
  }

  #quantile(share: number): number | undefined {
    const count = Math.min(this.count, CAPACITY);
    if (count === 0) return undefined;
    return this.#kept.subarray(0, count).slice().sort()[Math.round((count - 1) * share)];
  }

  /**
   * Returns an evenly distributed place in 0..count, always the same for the same log (a linear congruential
   * generator).
   */
  #draw(): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((this.#random >>> 0) / 2 ** 32) * (this.count + 1));
  }
}
