import { Backoff } from '../../../agent/backoff.ts';

/** Why a request brought no value. */
export type Failure =
  /** No unit answered. */
  | 'silence'
  /** The control unit says that it does not have this. */
  | 'unsupported'
  /** It refused for now: busy, conditions not correct. */
  | 'refusal'
  /** The answer was not complete. */
  | 'fault';

/** Failures in a row after which a command is asked less often: one may be lost to a busy bus. */
const PATIENCE = 3;

/** When a command is asked again: at its interval, and later and later while the car does not answer it. */
export class AskingInterval {
  readonly #interval: number;
  readonly #longest: number;
  readonly #backoff: Backoff;
  #failures = 0;

  /** Milliseconds both. */
  constructor(interval: number, longest: number) {
    this.#interval = interval;
    this.#longest = longest;
    this.#backoff = new Backoff({ first: 2 * Math.max(interval, 1000), longest });
  }

  /** It is asked less often than the plan wants. */
  get lengthened(): boolean {
    return this.#failures >= PATIENCE;
  }

  /** Milliseconds until the next request after this failure. */
  failed(failure: Failure): number {
    // An unsupported parameter stays unsupported until the unit is programmed again.
    this.#failures = failure === 'unsupported' ? Number.POSITIVE_INFINITY : this.#failures + 1;
    if (this.#failures < PATIENCE) return this.#interval;
    const wait = this.#failures === Number.POSITIVE_INFINITY ? this.#longest : this.#backoff.next();
    return Math.max(wait, this.#interval);
  }

  /** It was answered, or may be from now on. */
  reset(): void {
    this.#failures = 0;
    this.#backoff.reset();
  }
}
