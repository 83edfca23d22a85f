/** Numbers sorted by time, 16 bytes each. Numbers with equal times are in no particular order. */
const smallest = 64;

export class TimeOrder {
  #at = new Float64Array(smallest);
  #number = new Float64Array(smallest);
  #from = 0;
  #to = 0;

  get size(): number {
    return this.#to - this.#from;
  }

  /** Returns the number with the earliest time that is at least `from`, or undefined if there is none. */
  first(from: number): { readonly number: number; readonly at: number } | undefined {
    const i = this.#firstFrom(from);
    return i < this.#to ? { number: this.#number[i]!, at: this.#at[i]! } : undefined;
  }

  add(number: number, at: number): void {
    if (this.#to === this.#at.length) this.#makeRoom();
    // Fast path: usually the new time is the latest.
    const place = this.#to === this.#from || this.#at[this.#to - 1]! <= at ? this.#to : this.#firstFrom(at);
    this.#at.copyWithin(place + 1, place, this.#to);
    this.#number.copyWithin(place + 1, place, this.#to);
    this.#at[place] = at;
    this.#number[place] = number;
    this.#to++;
  }

  remove(number: number, at: number): void {
    for (let i = this.#firstFrom(at); i < this.#to && this.#at[i] === at; i++) {
      if (this.#number[i] !== number) continue;
      if (i === this.#from) {
        this.#from++;
        return;
      }
      this.#at.copyWithin(i, i + 1, this.#to);
      this.#number.copyWithin(i, i + 1, this.#to);
      this.#to--;
      return;
    }
  }

  /** Returns a copy of the numbers with `from` ≤ time < `to`, ordered by time. */
  between(from: number, to: number): Float64Array {
    return this.#number.slice(this.#firstFrom(from), this.#firstFrom(to));
  }

  #firstFrom(at: number): number {
    let low = this.#from;
    let high = this.#to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#at[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #makeRoom(): void {
    const size = this.size;
    const length = Math.max(smallest, 2 * size);
    const at = new Float64Array(length);
    const number = new Float64Array(length);
    at.set(this.#at.subarray(this.#from, this.#to));
    number.set(this.#number.subarray(this.#from, this.#to));
    this.#at = at;
    this.#number = number;
    this.#from = 0;
    this.#to = size;
  }
}
