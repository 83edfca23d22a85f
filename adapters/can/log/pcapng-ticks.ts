/** Times of pcapng: a 64-bit count in the resolution of the interface (if_tsresol, if_tsoffset). */

/** Bit position of the upper half of the count. */
const HALF = 32n;

export class Ticks {
  readonly #perSecond: bigint;
  readonly #perMillisecond: number;
  readonly #offset: number;
  /** The last converted upper half, its milliseconds and its remaining ticks. It changes rarely. */
  #high = -1;
  #base = 0;
  #rest = 0;

  /**
   * @param resolution exponent of the ticks per second: of 10, or of 2 if its highest bit is set
   * @param offset seconds to add
   */
  constructor(resolution: number, offset: number) {
    this.#perSecond = (resolution & 0x80) === 0 ? 10n ** BigInt(resolution) : 2n ** BigInt(resolution & 0x7f);
    this.#perMillisecond = Number(this.#perSecond) / 1000;
    this.#offset = offset * 1000;
  }

  /** Returns UTC milliseconds. */
  at(high: number, low: number): number {
    if (high !== this.#high) {
      // A double cannot hold today's date in nanoseconds.
      const ticks = (BigInt(high) << HALF) * 1000n;
      this.#high = high;
      this.#base = Number(ticks / this.#perSecond) + this.#offset;
      this.#rest = Number(ticks % this.#perSecond) / 1000;
    }
    return this.#base + (this.#rest + low) / this.#perMillisecond;
  }
}
