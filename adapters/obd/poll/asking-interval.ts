import { Backoff } from '../../../agent/backoff.ts';

/** Reason why a request returned no value. */
export type Failure =
  /** No unit answered. */
  | 'silence'
  /** The control unit does not support the command. */
  | 'unsupported'
  /** The control unit temporarily refused the command: busy, conditions not correct. */
  | 'refusal'
  /** The answer was not complete. */
  | 'fault';

/** Number of consecutive failures after which a command is requested less often: a busy bus may lose one. */
const PATIENCE = 3;

/** Interval of a command's requests. It grows while the car does not answer. */
export class AskingInterval {
  readonly #interval: number;
  readonly #longest: number;
  readonly #backoff: Backoff;
  #failures = 0;

  /** Both parameters are in ms. */
  constructor(interval: number, longest: number) {
    this.#interval = interval;
    this.#longest = longest;
    this.#backoff = new Backoff({ first: 2 * Math.max(interval, 1000), longest });
  }

  /** True if the command is requested less often than planned. */
  get lengthened(): boolean {
    return this.#failures >= PATIENCE;
  }

  /** Call after a failure. Returns the time in ms until the next request. */
  failed(failure: Failure): number {
    // An unsupported parameter remains unsupported until the unit is programmed again.
    this.#failures = failure === 'unsupported' ? Number.POSITIVE_INFINITY : this.#failures + 1;
    if (this.#failures < PATIENCE) return this.#interval;
    const wait = this.#failures === Number.POSITIVE_INFINITY ? this.#longest : this.#backoff.next();
    return Math.max(wait, this.#interval);
  }

  /** Call after an answer, or when an answer has become possible. */
  reset(): void {
    this.#failures = 0;
    this.#backoff.reset();
  }
}
