/** Adapts the interval of pings to the time after which a network device drops a silent connection. */

/** Number of answers after a silence of the current length before a longer silence is tried. */
const PROOFS = 10;

/**
 * Address translators drop a mapping that was silent for too long, often minutes, sometimes less than one, without
 * notice (RFC 5382 clause 5): the next packet is lost. This state machine learns their limit. All times are in seconds.
 *
 *     ping after `interval` s of silence is answered         the interval is safe; after ten answers, try a longer one
 *     unanswered, and the broker is reachable right after    the route worked, so a mapping was dropped: halve it
 *     unanswered, and the broker is unreachable for a while  a tunnel; that is no evidence about silence
 *
 * A longer interval is searched for in the middle between safe and failed intervals. The results apply to one local
 * address: another local address means other network devices.
 *
 * A unit that sleeps may be silent for longer than one that is awake. CONNECT announces the longer of the two
 * intervals, so that neither falling asleep nor waking costs a connection; the unit itself chooses how often it pings.
 */
export class KeepAlive {
  /** Upper limit of the interval, and the interval of an awake unit. */
  readonly #longest: number;
  readonly #awake: number;
  readonly #least: number;
  #interval: number;
  /** A silence that proved too long, s. */
  #forgotten: number | undefined;
  #proofs = 0;
  #asleep = false;
  /** The silence after which no answer arrived, while its cause is unknown. */
  #suspect: number | undefined;
  #address: string | undefined;

  /**
   * Uses `longest` until it proves too long, and `asleep` (at least as long) for a unit that sleeps; never less than
   * `least`.
   */
  constructor(longest: number, least: number, asleep: number = longest) {
    this.#longest = Math.max(longest, asleep);
    this.#awake = longest;
    this.#least = Math.min(least, longest);
    this.#interval = this.#longest;
  }

  /** Silence of this side before a ping, s. */
  get seconds(): number {
    return this.#asleep ? this.announced : Math.min(this.announced, this.#awake);
  }

  /** The keep-alive of the next CONNECT. The first attempt after a loss assumes that a mapping was dropped. */
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

  /** Records that the broker answered a ping after a silence. */
  answered(): void {
    // A short silence proves nothing about a longer one.
    if (this.seconds < this.#interval) return;
    if (++this.#proofs < PROOFS || this.#forgotten === undefined) return;
    this.#proofs = 0;
    const middle = Math.floor((this.#interval + this.#forgotten) / 2);
    // Stop within a tenth of the known limit: a better value is not worth another loss.
    this.#interval = Math.max(this.#interval, Math.min(middle, Math.floor(this.#forgotten * 0.9)));
  }

  /** Records the end of a connection; `unanswered` if a ping after a silence got no answer. */
  ended(unanswered: boolean): void {
    this.#suspect = unanswered ? this.seconds : undefined;
  }

  /** Records a failed attempt to connect. */
  missed(): void {
    this.#suspect = undefined;
  }

  /** Records that the broker accepted the connection from this local address. */
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
