/**
 * Finds numbers by a 32-bit hash with open addressing. It indexes ids without storing them. Several numbers may have
 * the same hash; the caller must check which one it needs.
 */
const smallest = 64;
const empty = -1;
const removed = -2;

export class HashTable {
  #hash = new Uint32Array(smallest);
  #number = new Float64Array(smallest).fill(empty);
  #size = 0;
  /** Number of slots that are not empty. */
  #taken = 0;

  add(hash: number, number: number): void {
    if (2 * (this.#taken + 1) > this.#number.length) this.#rebuild();
    const mask = this.#number.length - 1;
    let at = scatter(hash) & mask;
    while (this.#number[at]! >= 0) at = (at + 1) & mask;
    if (this.#number[at] === empty) this.#taken++;
    this.#hash[at] = hash;
    this.#number[at] = number;
    this.#size++;
  }

  remove(hash: number, number: number): void {
    const mask = this.#number.length - 1;
    for (let at = scatter(hash) & mask; this.#number[at] !== empty; at = (at + 1) & mask) {
      if (this.#number[at] !== number || this.#hash[at] !== hash) continue;
      this.#number[at] = removed;
      this.#size--;
      return;
    }
  }

  /** Returns the numbers stored under this hash, in no particular order. */
  numbers(hash: number): number[] {
    const found: number[] = [];
    const mask = this.#number.length - 1;
    for (let at = scatter(hash) & mask; this.#number[at] !== empty; at = (at + 1) & mask) {
      if (this.#hash[at] === hash && this.#number[at] !== removed) found.push(this.#number[at]!);
    }
    return found;
  }

  #rebuild(): void {
    const hashes = this.#hash;
    const numbers = this.#number;
    let length = smallest;
    while (length < 4 * (this.#size + 1)) length *= 2;
    this.#hash = new Uint32Array(length);
    this.#number = new Float64Array(length).fill(empty);
    this.#size = 0;
    this.#taken = 0;
    for (let at = 0; at < numbers.length; at++) if (numbers[at]! >= 0) this.add(hashes[at]!, numbers[at]!);
  }
}

/** Spreads hashes that have equal low bits over the table. */
function scatter(hash: number): number {
  return Math.imul(hash, 0x9e37_79b1) >>> 7;
}
