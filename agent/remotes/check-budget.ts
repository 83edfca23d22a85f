import type { Clock } from '../ports.ts';

export interface CheckRate {
  /** Maximum authentic commands per second, and maximum wrong signatures per second whatever the checks cost. */
  readonly perSecond: number;
  /** Maximum wrong signatures per second while all checks use less than {@link SHARE} of the time. */
  readonly maximum: number;
}

/** Share of the time of one core that further checks may use. */
const SHARE = 0.2;
/** Longest time for which further checks may block the agent. */
const MAX_BLOCK_MS = 50;

/** Limits the cost of signature checks: a fast unit checks a whole flood, a slow one as many as it can afford. */
export class CheckBudget {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #rate: CheckRate;
  #at: number;
  /** Number of authentic commands that may be found now: each costs more than its check. */
  #authentic: number;
  /** Number of wrong signatures that may be found now. */
  #wrong: number;
  /** Time for further checks. */
  #spareMs = MAX_BLOCK_MS;
  #further = { second: 0, checks: 0 };

  constructor(clock: Pick<Clock, 'monotonic'>, rate: CheckRate) {
    this.#clock = clock;
    this.#rate = rate;
    this.#at = clock.monotonic();
    this.#authentic = rate.perSecond;
    this.#wrong = rate.perSecond;
  }

  /** Returns true if a signature may be checked now. */
  allows(): boolean {
    this.#refill();
    const { perSecond, maximum } = this.#rate;
    const further = this.#spareMs > 0 && this.#further.checks < maximum - perSecond;
    return this.#authentic >= 1 && (this.#wrong >= 1 || further);
  }

  /** Runs a check, charges it to the budget, and returns its result. */
  spend(check: () => boolean): boolean {
    this.#refill();
    const begun = this.#clock.monotonic();
    const authentic = check();
    this.#spareMs -= this.#clock.monotonic() - begun;
    if (authentic) this.#authentic = Math.max(0, this.#authentic - 1);
    else if (this.#wrong >= 1) this.#wrong--;
    else this.#further.checks++;
    return authentic;
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    const elapsed = now - this.#at;
    const { perSecond } = this.#rate;
    this.#at = now;
    this.#authentic = Math.min(perSecond, this.#authentic + (elapsed * perSecond) / 1000);
    this.#wrong = Math.min(perSecond, this.#wrong + (elapsed * perSecond) / 1000);
    this.#spareMs = Math.min(MAX_BLOCK_MS, this.#spareMs + elapsed * SHARE);
    const second = Math.floor(now / 1000);
    if (second !== this.#further.second) this.#further = { second, checks: 0 };
  }
}
