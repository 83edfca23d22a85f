/** Retention: removes old messages in small steps, for the kinds for which the operator has set a number of days. */
import { DAY } from '../../protocol/calendar.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import { Looks } from './looks.ts';
import type { HubLog, Timer, WallClock } from './ports.ts';

/** Days to keep messages, by kind. Messages of other kinds are kept for ever. */
export type RetentionDays = Readonly<Partial<Record<Kind, number>>>;

/** Rows of readings are removed like messages of a kind of their own. */
export type KeptKind = Kind | 'reading';

/** {@link RetentionDays}, and the days to keep rows of readings. If these are omitted, the hub looks for none. */
export type KeptDays = RetentionDays & { readonly reading?: number };

/** Position of the last checked message of a kind: second of arrival, then id. */
export interface RetentionPlace {
  readonly second: number;
  readonly id: number;
}

export interface RetentionStore {
  /**
   * Returns true if the clock of the hub is confirmed: one of the newest messages of some kind arrived within
   * `tolerance` ms of `now`, and the car's clock was set and agrees within `tolerance` ms.
   */
  confirms(now: number, tolerance: number): Promise<boolean>;
  /**
   * Removes messages of a kind, or readings, that arrived before `before`, with their records, in one commit: at most 500 that follow
   * `place`. Keeps messages that report an alert or a fault as still active, and messages that wait for a receiver.
   * `next`: position for the next call. If omitted, no older messages are left to check.
   */
  removeBefore(
    kind: KeptKind,
    before: number,
    place?: RetentionPlace,
  ): Promise<{ readonly removed: number; readonly next?: RetentionPlace }>;
}

interface RetentionParts {
  readonly store: RetentionStore;
  readonly days: KeptDays;
  readonly clock: WallClock;
  readonly after: Timer;
  /** Drops messages of unregistered cars that are older than the days of their kind. */
  readonly expire?: (now: number) => Promise<void>;
  /** Counts the removed messages of a kind. */
  readonly removed: (kind: Kind, messages: number) => void;
  readonly log: HubLog;
}

/** Time between two checks in ms. */
const EVERY = 1_000;
/** Largest number of commits of a kind per check: 5,000 messages/s, more than 10,000 driving cars send. */
const COMMITS = 10;
/** Number of checks for which a kind without old messages is skipped. Not a time, because the clock may be set. */
const REST = 600;

interface Sweep {
  readonly kind: KeptKind;
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
    this.#sweeps = (Object.entries(parts.days) as [KeptKind, number][]).map(([kind, days]) => {
      return { kind, days, place: undefined, removed: 0, rest: 0 };
    });
    this.#looks = new Looks({ after: parts.after, every: EVERY, look: () => this.#look() });
  }

  /** Starts the regular removal. */
  begin(): void {
    if (this.#sweeps.length > 0) this.#looks.begin();
  }

  /** Stops the removal. Resolves when no removal is running any more. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Never rejects. A later check retries after a failure. */
  async #look(): Promise<void> {
    const { store, clock, log } = this.#parts;
    const due = this.#sweeps.filter((sweep) => sweep.rest-- <= 0);
    if (due.length === 0) return;
    const now = Math.round(clock.now());
    try {
      const confirmed = await store.confirms(now, DAY);
      if (!confirmed && !this.#paused) log.warn('hub.retention.paused', {});
      this.#paused = !confirmed;
      if (confirmed) await this.#parts.expire?.(now);
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
    if (removed > 0 && kind !== 'reading') count(kind, removed);
    sweep.removed += removed;
    sweep.place = next;
    if (next !== undefined) return;
    if (sweep.removed > 0) log.info('hub.retention.removed', { kind, days, messages: sweep.removed });
    sweep.removed = 0;
    sweep.rest = REST;
  }
}
