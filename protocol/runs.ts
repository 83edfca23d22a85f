/** A range of consecutive numbers: its first and its last. */
export type Run = readonly [first: number, last: number];

/** A set of whole numbers as ascending, separate runs: a long outage needs as little memory as a short one. */
export class Runs {
  readonly #runs: Run[];

  /** @param ascending runs of another set */
  constructor(ascending: readonly Run[] = []) {
    this.#runs = [...ascending];
  }

  get all(): readonly Run[] {
    return this.#runs;
  }

  /** Number of elements. */
  get size(): number {
    return this.#runs.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  has(number: number): boolean {
    const [first] = this.#runs[this.#firstNotBefore(number)] ?? [Number.POSITIVE_INFINITY];
    return first <= number;
  }

  /** Adds the numbers from `first` to `last`; numbers that are already in the set remain. */
  add(first: number, last = first): void {
    // Runs from `start` up to `end` overlap or touch the added numbers.
    const start = this.#firstNotBefore(first - 1);
    let end = start;
    let [from, to] = [first, last];
    for (let run = this.#runs[end]; run !== undefined && run[0] <= last + 1; run = this.#runs[++end]) {
      from = Math.min(from, run[0]);
      to = Math.max(to, run[1]);
    }
    this.#runs.splice(start, end - start, [from, to]);
  }

  /** Removes the numbers from `first` to `last`, if present. */
  remove(first: number, last = first): void {
    const start = this.#firstNotBefore(first);
    let end = start;
    const rest: Run[] = [];
    for (let run = this.#runs[end]; run !== undefined && run[0] <= last; run = this.#runs[++end]) {
      if (run[0] < first) rest.push([run[0], first - 1]);
      if (run[1] > last) rest.push([last + 1, run[1]]);
    }
    if (end > start) this.#runs.splice(start, end - start, ...rest);
  }

  /** Returns the index of the first run that does not end before `number`. */
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
