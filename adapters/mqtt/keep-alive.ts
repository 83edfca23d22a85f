/** How long a connection may be silent before a box on the way forgets it. */

/** Answers after a silence of the present length before a longer one is tried. */
const PROOFS = 10;

/**
 * Address translators drop a mapping that was silent for too long, often minutes, sometimes less than one, and say
 * nothing (RFC 5382 clause 5): the next packet goes nowhere. This machine learns what they bear. Seconds throughout.
 *
 *     a question after `interval` s of silence is answered   it bears that; after ten, something longer next time
 *     it is not, and the broker is reached at once after it  the way was there, so a mapping was forgotten: half of it
 *     it is not, and the broker is away for a while          a tunnel; that says nothing about silence
 *
 * What is longer is looked for in the middle between what was borne and what was not. All holds for one address of
 * ours: with another one we are behind other boxes.
 */
export class KeepAlive {
  readonly #longest: number;
  readonly #least: number;
  #interval: number;
  /** A silence that was too long. */
  #forgotten: number | undefined;
  #proofs = 0;
  #suspect = false;
  #address: string | undefined;

  /** `longest` is used until it proves too long; never less than `least`, nor more than `longest`. */
  constructor(longest: number, least: number) {
    this.#longest = longest;
    this.#least = Math.min(least, longest);
    this.#interval = longest;
  }

  /** For the next connection. The first attempt after a loss is made as if a mapping had been forgotten. */
  get seconds(): number {
    return this.#suspect ? this.#shorter : this.#interval;
  }

  get #shorter(): number {
    return Math.max(this.#least, Math.floor(this.#interval / 2));
  }

  /** The broker answered a question after a silence. */
  answered(): void {
    if (++this.#proofs < PROOFS || this.#forgotten === undefined) return;
    this.#proofs = 0;
    const middle = Math.floor((this.#interval + this.#forgotten) / 2);
    // Nearer than a tenth is not worth another loss.
    this.#interval = Math.max(this.#interval, Math.min(middle, Math.floor(this.#forgotten * 0.9)));
  }

  /** A connection ended; `unanswered` when it was for want of an answer after a silence. */
  ended(unanswered: boolean): void {
    this.#suspect = unanswered;
  }

  /** An attempt to connect came to nothing. */
  missed(): void {
    this.#suspect = false;
  }

  /** The broker accepted us at this local address. */
  reached(address: string | undefined): void {
    if (address !== this.#address) {
      const first = this.#address === undefined;
      this.#address = address;
      if (!first) this.#begin();
    } else if (this.#suspect) {
      this.#forgotten = this.#interval;
      this.#interval = this.#shorter;
      this.#proofs = 0;
    }
    this.#suspect = false;
  }

  #begin(): void {
    this.#interval = this.#longest;
    this.#forgotten = undefined;
    this.#proofs = 0;
  }
}
