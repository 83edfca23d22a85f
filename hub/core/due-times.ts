/**
 * A hub whose clock was fast has left moments behind that lie far in the future, where another hub, or this one when its clock
 * is right, would wait for them: what lies further ahead than any wait is due now.
 */
import { Looks } from './looks.ts';
import type { HubLog, Timer, WallClock } from './ports.ts';

/** The longest waits by what waits, ms. */
export interface LongestWaits {
  readonly resends: number;
  readonly monitors: number;
  readonly rollouts: number;
  /** For receivers: a due time that is too far ahead is checked now, and moved again if its own rules require it. */
  readonly deliveries: number;
}

export interface DueTimesStore {
  /** Makes due at `now` what lies further ahead than its longest wait; how many rows. Rejects with `store.failed`. */
  pullIn(now: number, longest: LongestWaits): Promise<number>;
}

/** Between two looks, ms. */
const EVERY = 60_000;

interface DueTimesParts {
  readonly store: DueTimesStore;
  readonly longest: LongestWaits;
  readonly clock: WallClock;
  readonly after: Timer;
  readonly log: HubLog;
}

export class DueTimes {
  readonly #parts: DueTimesParts;
  readonly #looks: Looks;

  constructor(parts: DueTimesParts) {
    this.#parts = parts;
    this.#looks = new Looks({ after: parts.after, every: EVERY, look: () => this.#look() });
  }

  /** Looks at once, and by itself from now on. */
  begin(): void {
    this.#looks.wake();
  }

  /** Resolves when nothing is changed any more. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Never rejects: what failed is tried at the next look. */
  async #look(): Promise<void> {
    const { store, longest, clock, log } = this.#parts;
    try {
      const rows = await store.pullIn(Math.round(clock.now()), longest);
      if (rows > 0) log.warn('hub.dueTimes.corrected', { rows });
    } catch (error) {
      log.warn('hub.dueTimes.failed', { error: (error as Error).message });
    }
  }
}
