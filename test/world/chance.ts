/** Pseudo-random numbers that depend only on a seed. */
export class Chance {
  readonly #seed: string;
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: string) {
    this.#seed = seed;
    // FNV-1a, once for each word of the state.
    const word = (salt: number): number => {
      let hash = 0x811c9dc5 ^ salt;
      for (let i = 0; i < seed.length; i++) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193);
      return hash >>> 0;
    };
    this.#a = word(1);
    this.#b = word(2);
    this.#c = word(3);
    this.#d = 1;
    for (let i = 0; i < 12; i++) this.#next();
  }

  /** Another sequence, which does not depend on how many numbers were drawn from this one. */
  fork(name: string): Chance {
    return new Chance(`${this.#seed}/${name}`);
  }

  /** At least 0, below 1. */
  real(): number {
    return this.#next() / 2 ** 32;
  }

  /** An integer from 0 up to, but without, `end`. */
  below(end: number): number {
    return Math.floor(this.real() * end);
  }

  /** An integer between both limits, inclusive. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  happens(probability: number): boolean {
    return this.real() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** sfc32 (Chris Doty-Humphrey, PractRand). */
  #next(): number {
    const sum = (this.#a + this.#b + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }
}
