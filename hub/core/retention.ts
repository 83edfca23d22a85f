/** Removes messages of kinds that the operator keeps for a number of days, little by little. */
import { DAY } from '../../protocol/calendar.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import { Looks } from './looks.ts';
import type { HubLog, Timer, WallClock } from './ports.ts';

/** Days for which messages are kept; kinds that are not named are kept for ever. */
export type RetentionDays = Readonly<Partial<Record<Kind, number>>>;

/** Up to where the messages of a kind were looked at, by the second of their arrival. */
export interface RetentionPlace {
  readonly second: number;
  readonly id: number;
}

export interface RetentionStore {
  /**
   * Whether one of the newest messages of some kind came within `tolerance` of `now` from a car that knew the time and gave it the
   * same time within `tolerance`, ms.
   */
  confirms(now: number, tolerance: number): Promise<boolean>;
  /**
   * In one commit removes messages of a kind that arrived before `before`, and the records that they carry, at most
   * 500, beginning after `place`. Keeps those that say of an alert or a fault that it is still active, and those
   * that wait for a receiver. `next`: where to go on; absent: nothing older is left to look at.
   */
  removeBefore(
    kind: Kind,
    before: number,
    place?: RetentionPlace,
  ): Promise<{ readonly removed: number; readonly next?: RetentionPlace }>;
}

interface RetentionParts {
  readonly store: RetentionStore;
  readonly days: RetentionDays;
  readonly clock: WallClock;
  readonly after: Timer;
  /** Number of removed messages of a kind. */
  readonly removed: (kind: Kind, messages: number) => void;
  readonly log: HubLog;
}

/** Between two looks, ms. */
const EVERY = 1_000;
/** Most commits of a kind in one look: 5,000 messages a second, more than ten thousand driving cars send. */
const COMMITS = 10;
/** Looks without a kind of which nothing older is left. Counted, since the clock may be set. */
const REST = 600;

interface Sweep {
  readonly kind: Kind;
  readonly days: number;
  place: RetentionPlace | undefined;
  removed: number;
  rest: number;
}

export class Retention {
  readonly #parts: RetentionParts;
  readonly #sweeps: readonly Sweep[];
  readonly #looks: Looks;
  #paused = false;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#sweeps = (Object.entries(parts.days) as [Kind, number][]).map(([kind, days]) => {
      return { kind, days, place: undefined, removed: 0, rest: 0 };
    });
    this.#looks = new Looks({ after: parts.after, every: EVERY, look: () => this.#look() });
  }

  /** Removes by itself from now on. */
  begin(): void {
    if (this.#sweeps.length > 0) this.#looks.begin();
  }

  /** Resolves when nothing is removed any more. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Never rejects: what failed is tried at the next look. */
  async #look(): Promise<void> {
    const { store, clock, log } = this.#parts;
    const due = this.#sweeps.filter((sweep) => sweep.rest-- <= 0);
    if (due.length === 0) return;
    const now = Math.round(clock.now());
    try {
      const confirmed = await store.confirms(now, DAY);
      if (!confirmed && !this.#paused) log.warn('hub.retention.paused', {});
      this.#paused = !confirmed;
      for (const sweep of due) {
        if (!confirmed) sweep.rest = REST;
        for (let commits = 0; commits < COMMITS && sweep.rest <= 0; commits++) {
          if (this.#looks.stopped) return;
          await this.#remove(sweep, now - sweep.days * DAY);
        }
      }
    } catch (error) {
      log.warn('hub.retention.failed', { error: (error as Error).message });
      for (const sweep of due) sweep.rest = REST;
    }
  }

  async #remove(sweep: Sweep, before: number): Promise<void> {
    const { store, removed: count, log } = this.#parts;
    const { kind, days } = sweep;
    const { removed, next } = await store.removeBefore(kind, before, sweep.place);
    if (removed > 0) count(kind, removed);
    sweep.removed += removed;
    sweep.place = next;
    if (next !== undefined) return;
    if (sweep.removed > 0) log.info('hub.retention.removed', { kind, days, messages: sweep.removed });
    sweep.removed = 0;
    sweep.rest = REST;
  }
}
