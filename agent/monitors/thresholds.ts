/**
 * Who watches a number, by the values at which it matters to them. A number comes thousands of times a second and
 * crosses few of these thresholds, however many there are: what it costs grows with those that it crosses.
 */
export class Thresholds<T> {
  /** Ascending, each with who watches it beside it. */
  readonly #values: number[] = [];
  readonly #items: T[] = [];
  /** Where the number stands: the thresholds from `first` to before `end` are equal to it. */
  #first = 0;
  #end = 0;

  /** {@link stand} has to be called before the next {@link cross}. */
  add(item: T, thresholds: Iterable<number>): void {
    for (const threshold of thresholds) {
      const place = this.#firstFrom(threshold);
      this.#values.splice(place, 0, threshold);
      this.#items.splice(place, 0, item);
    }
  }

  /** As {@link add}: the number has to be placed anew. */
  remove(item: T): void {
    for (let place = this.#items.length - 1; place >= 0; place--) {
      if (this.#items[place] !== item) continue;
      this.#values.splice(place, 1);
      this.#items.splice(place, 1);
    }
  }

  /** The number is there, however it came there. */
  stand(value: number): void {
    this.#first = this.#firstFrom(value);
    this.#end = this.#first;
    while (this.#values[this.#end] === value) this.#end++;
  }

  /** Moves the number; gives whose thresholds it left, crossed or reached, for each threshold once. */
  cross(to: number): readonly T[] {
    const values = this.#values;
    let first = this.#first;
    let end = this.#end;
    while (first > 0 && (values[first - 1] as number) >= to) first--;
    while (end < values.length && (values[end] as number) <= to) end++;
    if (first === end) return [];
    this.stand(to);
    return this.#items.slice(first, end);
  }

  #firstFrom(value: number): number {
    let low = 0;
    let high = this.#values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#values[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
