/** 64-bit FNV-1a (draft-eastlake-fnv): distinguishes the few catalogs of one car; it is not cryptographic. */
export class Fnv {
  // The offset basis, cbf29ce484222325.
  #high = 0xcbf29ce4;
  #low = 0x84222325;

  add(bytes: Uint8Array): void {
    let high = this.#high;
    let low = this.#low;
    for (const byte of bytes) {
      low = (low ^ byte) >>> 0;
      // Multiply by the prime 2^40 + 0x1b3, modulo 2^64; all products are exact integers.
      const product = low * 0x1b3;
      const shifted = (low << 8) >>> 0;
      high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + shifted) % 2 ** 32;
      low = product % 2 ** 32;
    }
    this.#high = high;
    this.#low = low;
  }

  /** Eight bytes, most significant first. */
  get hash(): Uint8Array {
    const bytes = new Uint8Array(8);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, this.#high);
    view.setUint32(4, this.#low);
    return bytes;
  }
}

/** Returns lower-case hexadecimal, as in topics and JSON. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
