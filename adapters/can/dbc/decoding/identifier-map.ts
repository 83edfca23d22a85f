/** Maps 29-bit identifiers to slots by open addressing. For 11 bits an array suffices. */
export class IdentifierMap {
  #keys = new Int32Array(16).fill(-1);
  #slots = new Int32Array(16).fill(-1);
  #shift = 28;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /**
   * Returns the slot of an identifier, or `absent`. Fibonacci hashing: the top bits of a multiplication by 2^32/φ
   * spread identifiers that differ in few bits.
   */
  get(id: number, absent: number): number {
    const keys = this.#keys;
    const last = keys.length - 1;
    for (let i = Math.imul(id, 0x9e37_79b1) >>> this.#shift; ; i = (i + 1) & last) {
      const key = keys[i]!;
      if (key === id) return this.#slots[i]!;
      if (key < 0) return absent;
    }
  }

  set(id: number, slot: number): void {
    // At least half of the table is empty, so that every search ends.
    if (this.#size * 2 >= this.#keys.length) this.#grow();
    const last = this.#keys.length - 1;
    let i = Math.imul(id, 0x9e37_79b1) >>> this.#shift;
    while (this.#keys[i]! >= 0 && this.#keys[i] !== id) i = (i + 1) & last;
    if (this.#keys[i]! < 0) this.#size++;
    this.#keys[i] = id;
    this.#slots[i] = slot;
  }

  #grow(): void {
    const keys = this.#keys;
    const slots = this.#slots;
    this.#keys = new Int32Array(keys.length * 2).fill(-1);
    this.#slots = new Int32Array(keys.length * 2).fill(-1);
    this.#shift--;
    this.#size = 0;
    keys.forEach((key, i) => {
      if (key >= 0) this.set(key, slots[i]!);
    });
  }
}
