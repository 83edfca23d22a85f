import type { Theft } from '../../protocol/schema/theft.ts';
import type { Effect } from './plan.ts';

/** Reports whether the car counts as stolen (the theft recorder). */
export interface Thefts {
  readonly current: Theft | undefined;
  declare(isStolen: boolean, at: number): void;
}

/** Intervals in ms between positions. */
export interface TrackingPeriod {
  readonly running: number;
  readonly shutdown: number;
}

/** Starts waypoints at these intervals, or stops them (the waypoint recorder). */
export interface Tracker {
  track(period: TrackingPeriod | undefined): void;
}

/** Default intervals of a command in ms. */
const DEFAULT: TrackingPeriod = { running: 60_000, shutdown: 3_600_000 };

/** Stores the interval at which a stolen car reports its position, until it is found. */
export class Tracking {
  readonly #tracker: Tracker | undefined;
  readonly #thefts: Thefts;
  #period: TrackingPeriod | undefined;

  constructor(thefts: Thefts, tracker: Tracker | undefined) {
    this.#thefts = thefts;
    this.#tracker = tracker;
  }

  /** Returns the effect of a command with this period, in seconds. */
  ordered({ running, shutdown }: { readonly running?: number; readonly shutdown?: number }): Effect {
    const before = this.#period ?? DEFAULT;
    const period = {
      running: running === undefined ? before.running : running * 1000,
      shutdown: shutdown === undefined ? before.shutdown : shutdown * 1000,
    };
    return {
      done: () => this.#period?.running === period.running && this.#period.shutdown === period.shutdown,
      refusal: () => {
        if (this.#tracker === undefined) return { code: 'command.unsupported', detail: 'this agent follows no way' };
        if (this.#thefts.current !== undefined) return undefined;
        return { code: 'command.stolen', detail: 'the car is followed only while it counts as stolen' };
      },
      apply: () => {
        this.#period = period;
        this.#tracker?.track(period);
      },
    };
  }

  /** Ends the tracking when the theft has ended. Called periodically. */
  look(): void {
    if (this.#period === undefined || this.#thefts.current !== undefined) return;
    this.#period = undefined;
    this.#tracker?.track(undefined);
  }

  state(): unknown {
    return this.#period;
  }

  /** Restores {@link state}. Invalid parts count as empty. */
  restore(state: unknown): void {
    const { running, shutdown } = (state ?? {}) as Partial<TrackingPeriod>;
    if (typeof running !== 'number' || typeof shutdown !== 'number' || !(running > 0 && shutdown > 0)) return;
    this.#period = { running, shutdown };
    this.#tracker?.track(this.#period);
  }
}
