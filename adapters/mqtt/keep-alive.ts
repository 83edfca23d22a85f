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
 * A longer interval is searched for in the middle between borne and lost ones. All holds for one address of
 * ours: with another one we are behind other boxes.
 *
 * A unit that sleeps may be silent for longer than one that is awake. CONNECT gives the longer of the two intervals, so
 * that neither falling asleep nor waking costs a connection; how often the unit pings is its own choice.
 */
export class KeepAlive {
  /** Usable intervals, and the interval of an awake unit. */
  readonly #longest: number;
  readonly #awake: number;
  readonly #least: number;
  #interval: number;
  /** A silence that was too long. */
  #forgotten: number | undefined;
  #proofs = 0;
  #asleep = false;
  /** The silence after which no answer came, while it is not known whether that was the reason. */
  #suspect: number | undefined;
  #address: string | undefined;

  /**
   * `longest` is used until it proves too long, and `asleep` (at least as long) by a unit that sleeps; never less than
   * `least`.
   */
  constructor(longest: number, least: number, asleep: number = longest) {
    this.#longest = Math.max(longest, asleep);
    this.#awake = longest;
    this.#least = Math.min(least, longest);
    this.#interval = this.#longest;
  }

  /** How long this side is silent before it asks. */
  get seconds(): number {
    return this.#asleep ? this.announced : Math.min(this.announced, this.#awake);
  }

  /** The keep-alive of the next CONNECT. The first attempt after a loss is made as if a mapping had been forgotten. */
  get announced(): number {
    return this.#suspect === undefined ? this.#interval : this.#halfOf(this.#suspect);
  }

  set asleep(asleep: boolean) {
    this.#asleep = asleep;
    this.#proofs = 0;
  }

  #halfOf(silence: number): number {
    return Math.max(this.#least, Math.floor(silence / 2));
  }

  /** The broker answered a question after a silence. */
  answered(): void {
    // A short silence proves nothing about a longer one.
    if (this.seconds < this.#interval) return;
    if (++this.#proofs < PROOFS || this.#forgotten === undefined) return;
    this.#proofs = 0;
    const middle = Math.floor((this.#interval + this.#forgotten) / 2);
    // Nearer than a tenth is not worth another loss.
    this.#interval = Math.max(this.#interval, Math.min(middle, Math.floor(this.#forgotten * 0.9)));
  }

  /** A connection ended; `unanswered` when it was for want of an answer after a silence. */
  ended(unanswered: boolean): void {
    this.#suspect = unanswered ? this.seconds : undefined;
  }

  /** An attempt to connect came to nothing. */
  missed(): void {
    this.#suspect = undefined;
  }

  /** The broker accepted us at this local address. */
  reached(address: string | undefined): void {
    if (address !== this.#address) {
      const first = this.#address === undefined;
      this.#address = address;
      if (!first) this.#begin();
    } else if (this.#suspect !== undefined) {
      this.#forgotten = this.#suspect;
      this.#interval = this.#halfOf(this.#suspect);
      this.#proofs = 0;
    }
    this.#suspect = undefined;
  }

  #begin(): void {
    this.#interval = this.#longest;
    this.#forgotten = undefined;
    this.#proofs = 0;
  }
}
