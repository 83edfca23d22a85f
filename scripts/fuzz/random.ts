/** Deterministic pseudorandom numbers: SplitMix32 (Steele, Lea, Flood 2014). */
export class Random {
  #state: number;

  /** @param parts numbers and strings that together are the seed */
  constructor(...parts: readonly (number | string)[]) {
    // FNV-1a hash of the parts as a string.
    let hash = 0x811c_9dc5;
    for (const character of parts.join('\0')) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x0100_0193);
    this.#state = hash | 0;
  }

  /** Returns an integer from 0 to `limit` - 1; 0 if `limit` is 0. */
  below(limit: number): number {
    this.#state = (this.#state + 0x9e37_79b9) | 0;
    let bits = this.#state ^ (this.#state >>> 16);
    bits = Math.imul(bits, 0x21f0_aaad);
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a_2d97);
    bits = (bits ^ (bits >>> 15)) >>> 0;
    return limit > 0 ? Math.floor((bits / 2 ** 32) * limit) : 0;
  }

  /** Returns true once in `times` calls on average. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  /** Returns a random element of a non-empty list. */
  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}
