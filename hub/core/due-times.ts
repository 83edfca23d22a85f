/**
 * Corrects due times that a hub with a fast clock has set too far ahead: hubs with a correct clock would wait too long.
 * A due time further ahead than the longest wait becomes due now.
 */
import { Looks } from './looks.ts';
import type { HubLog, Timer, WallClock } from './ports.ts';

/** Longest wait of each kind of work in ms. */
export interface LongestWaits {
  readonly resends: number;
  readonly monitors: number;
  readonly rollouts: number;
  /** Longest wait of receivers. A time too far ahead is checked now, and set again if the receiver requires it. */
  readonly deliveries: number;
}

export interface DueTimesStore {
  /** Makes work due at `now` if it would wait too long. Returns the number of rows. Rejects with `store.failed`. */
  pullIn(now: number, longest: LongestWaits): Promise<number>;
}

/** Time between two checks in ms. */
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

  /** Checks now, and then regularly. */
  begin(): void {
    this.#looks.wake();
  }

  /** Resolves when no check is running any more. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Never rejects. The next check retries after a failure. */
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
