/** Numbers without a hole, the first and the last of them. */
export type Run = readonly [first: number, last: number];

/** A set of whole numbers as ascending runs that do not touch: a long outage takes as little as a short one. */
export class Runs {
  #runs: Run[] = [];

  get all(): readonly Run[] {
    return this.#runs;
  }

  has(number: number): boolean {
    const [first] = this.#runs[this.#firstNotBefore(number)] ?? [Number.POSITIVE_INFINITY];
    return first <= number;
  }

  /** Adds the numbers from `first` to `last`; those that are there already stay. */
  add(first: number, last = first): void {
    // Runs from `start` up to `end` overlap what is added or touch it.
    const start = this.#firstNotBefore(first - 1);
    let end = start;
    let [from, to] = [first, last];
    for (let run = this.#runs[end]; run !== undefined && run[0] <= last + 1; run = this.#runs[++end]) {
      from = Math.min(from, run[0]);
      to = Math.max(to, run[1]);
    }
    this.#runs.splice(start, end - start, [from, to]);
  }

  /** Index of the first run that does not end before `number`. */
  #firstNotBefore(number: number): number {
    let [low, high] = [0, this.#runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#runs[middle]![1] < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
