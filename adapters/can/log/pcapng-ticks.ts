/** Times of pcapng: a count of 64 bits in a resolution that the interface has (if_tsresol, if_tsoffset). */

/** 2 to this is the value of the count's upper half. */
const HALF = 32n;

export class Ticks {
  readonly #perSecond: bigint;
  readonly #perMillisecond: number;
  readonly #offset: number;
  /** The upper half that was converted last, in milliseconds and the ticks that are left; it changes rarely. */
  #high = -1;
  #base = 0;
  #rest = 0;

  /**
   * @param resolution a power of 10, or with its highest bit of 2, by which a second is divided
   * @param offset seconds to add
   */
  constructor(resolution: number, offset: number) {
    this.#perSecond = (resolution & 0x80) === 0 ? 10n ** BigInt(resolution) : 2n ** BigInt(resolution & 0x7f);
    this.#perMillisecond = Number(this.#perSecond) / 1000;
    this.#offset = offset * 1000;
  }

  /** UTC milliseconds. */
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
