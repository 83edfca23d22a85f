/** Adapts the interval of pings to the time after which a network device drops a silent connection. */

/** Number of pings that must be answered at the current interval before a longer one is tried. */
const PROOFS = 10;

/**
 * Address translators (NAT) drop a mapping that was silent for too long, often minutes, sometimes less than one,
 * without notice (RFC 5382 clause 5): the next packet is lost. This state machine learns the limit. All times are in
 * seconds.
 *
 *     ping after `interval` s of silence is answered         the interval is safe; after ten answers, try a longer one
 *     unanswered, and the broker is reachable right after    the route worked, so a mapping was dropped: halve it
 *     unanswered, and the broker is unreachable for a while  a tunnel; that is no evidence about silence
 *
 * The next longer interval is halfway between the safe and the failed one. What was learned applies only to one local
 * address: another one means other network devices.
 *
 * A sleeping unit may be silent for longer than one that is awake. CONNECT announces the longer of the two intervals,
 * so that falling asleep or waking up does not require a new connection; the unit itself chooses how often it pings.
 */
export class KeepAlive {
  /** Upper limit of the interval, and limit while the unit is awake. */
  readonly #longest: number;
  readonly #awake: number;
  readonly #least: number;
  #interval: number;
  /** A silence in s after which the connection was lost. */
  #forgotten: number | undefined;
  #proofs = 0;
  #asleep = false;
  /** The silence in s that was followed by a loss whose cause is still unknown. */
  #suspect: number | undefined;
  #address: string | undefined;

  /**
   * @param longest interval of a unit that is awake, used until it proves too long
   * @param least lower limit of the interval
   * @param asleep interval of a sleeping unit; shorter ones count as `longest`
   */
  constructor(longest: number, least: number, asleep: number = longest) {
    this.#longest = Math.max(longest, asleep);
    this.#awake = longest;
    this.#least = Math.min(least, longest);
    this.#interval = this.#longest;
  }

  /** Time in s during which nothing is sent before a ping. */
  get seconds(): number {
    return this.#asleep ? this.announced : Math.min(this.announced, this.#awake);
  }

  /** Keep-alive of the next CONNECT in s. The first attempt after a loss assumes that a mapping was dropped. */
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
    // A short silence proves nothing about longer ones.
    if (this.seconds < this.#interval) return;
    if (++this.#proofs < PROOFS || this.#forgotten === undefined) return;
    this.#proofs = 0;
    const middle = Math.floor((this.#interval + this.#forgotten) / 2);
    // Stop within a tenth of the known limit: finding a better value is not worth another loss.
    this.#interval = Math.max(this.#interval, Math.min(middle, Math.floor(this.#forgotten * 0.9)));
  }

  /** Records the end of a connection. `unanswered` is true if a ping after a silence was not answered. */
  ended(unanswered: boolean): void {
    this.#suspect = unanswered ? this.seconds : undefined;
  }

  /** Records a failed attempt to connect. */
  missed(): void {
    this.#suspect = undefined;
  }

  /** Records that the broker has accepted a connection from this local address. */
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
