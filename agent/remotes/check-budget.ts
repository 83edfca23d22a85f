import type { Clock } from '../ports.ts';

export interface CheckRate {
  /** Authentic commands of a second, and wrong signatures of a second that may be found whatever they cost. */
  readonly perSecond: number;
  /** Wrong signatures of a second that are found at most, while all checks take less than {@link SHARE} of the time. */
  readonly maximum: number;
}

/** Part of the time of one core that further checks may take. */
const SHARE = 0.2;
/** Such checks may block the agent for this time. */
const MAX_BLOCK_MS = 50;

/** Bounds what signature checks cost: a fast unit checks a whole flood, a slow one as many as it can afford. */
export class CheckBudget {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #rate: CheckRate;
  #at: number;
  /** Authentic commands that may be found now: each costs more than its check. */
  #authentic: number;
  /** Wrong signatures that may be found now. */
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

  /** Whether a signature may be checked now. */
  allows(): boolean {
    this.#refill();
    const { perSecond, maximum } = this.#rate;
    const further = this.#spareMs > 0 && this.#further.checks < maximum - perSecond;
    return this.#authentic >= 1 && (this.#wrong >= 1 || further);
  }

  /** Makes a check at the cost of the budget; its result. */
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
