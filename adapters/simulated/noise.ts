/** Repeatable noise: mulberry32, a 32-bit counter with a mixing function. */
export class Noise {
  /** State of 32 bits; if restored, the same numbers follow. */
  state: number;

  constructor(state: number) {
    this.state = state >>> 0;
  }

  /** Returns a uniform number, 0 ≤ number < 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** Returns a uniform number within `middle` ± `width`. */
  around(middle: number, width: number): number {
    return middle + (this.next() * 2 - 1) * width;
  }
}
