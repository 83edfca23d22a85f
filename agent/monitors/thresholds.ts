/**
 * Watchers of a number, by their thresholds. A number can change thousands of times a second and crosses few
 * thresholds: the cost grows with the thresholds that it crosses, not with their total.
 */
export class Thresholds<T> {
  /** Thresholds, ascending; the item at the same index watches each. */
  readonly #values: number[] = [];
  readonly #items: T[] = [];
  /** Position of the number: the thresholds from `first` up to (not including) `end` are equal to it. */
  #first = 0;
  #end = 0;

  /** Adds an item. Call {@link stand} before the next {@link cross}. */
  add(item: T, thresholds: Iterable<number>): void {
    for (const threshold of thresholds) {
      const place = this.#firstFrom(threshold);
      this.#values.splice(place, 0, threshold);
      this.#items.splice(place, 0, item);
    }
  }

  /** Removes an item. Call {@link stand} before the next {@link cross}. */
  remove(item: T): void {
    for (let place = this.#items.length - 1; place >= 0; place--) {
      if (this.#items[place] !== item) continue;
      this.#values.splice(place, 1);
      this.#items.splice(place, 1);
    }
  }

  /** Sets the position of the number without reporting crossed thresholds. */
  stand(value: number): void {
    this.#first = this.#firstFrom(value);
    this.#end = this.#first;
    while (this.#values[this.#end] === value) this.#end++;
  }

  /** Moves the number. Returns the item of each threshold that it left, crossed or reached. */
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
