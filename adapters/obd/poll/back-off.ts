/** Why a request brought no value. */
export type Failure =
  /** Nobody answered. */
  | 'silence'
  /** The control unit says that it does not have this. */
  | 'unsupported'
  /** It refused for now: busy, conditions not correct. */
  | 'refusal'
  /** What came was no whole answer. */
  | 'fault';

/** Failures in a row after which a command is asked less often: one may be lost to a busy bus. */
const PATIENCE = 3;

/** When a command that the car does not answer is asked again: later and later, up to a longest time. */
export class BackOff {
  readonly #interval: number;
  readonly #longest: number;
  #failures = 0;

  /** Milliseconds both. */
  constructor(interval: number, longest: number) {
    this.#interval = interval;
    this.#longest = longest;
  }

  /** It is asked less often than the plan wants. */
  get active(): boolean {
    return this.#failures >= PATIENCE;
  }

  /** Milliseconds until the next request after this failure. */
  failed(failure: Failure): number {
    // What the unit does not have it will not have before it is programmed anew.
    this.#failures = failure === 'unsupported' ? Number.POSITIVE_INFINITY : this.#failures + 1;
    if (this.#failures < PATIENCE) return this.#interval;
    const delay = Math.max(this.#interval, 1000) * 2 ** Math.min(this.#failures - PATIENCE + 1, 30);
    return Math.max(Math.min(delay, this.#longest), this.#interval);
  }

  answered(): void {
    this.#failures = 0;
  }
}
