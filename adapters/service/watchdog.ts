import type { Clock, Log } from '../../agent/ports.ts';
import type { SystemdNotifier } from './notify.ts';

/** Returns the reason why its part is stuck, or undefined if the part makes progress. */
interface Beating {
  stuck(): string | undefined;
}

/**
 * Feeds the service manager's watchdog only when the pipeline beats: it has no timer, so if the pipeline stops,
 * the feeding stops.
 */
export class Watchdog {
  readonly #notifier: SystemdNotifier;
  readonly #clock: Clock;
  readonly #log: Log;
  #interval: number | undefined;
  #fedAt = Number.NEGATIVE_INFINITY;
  #starving: string | undefined;

  /** `interval`: the manager's watchdog interval, ms; undefined: no manager, but the log reports a stuck part. */
  constructor(notifier: SystemdNotifier, clock: Clock, log: Log, interval: number | undefined) {
    this.#notifier = notifier;
    this.#clock = clock;
    this.#log = log;
    this.#interval = interval;
  }

  /** Reason why the last beat did not feed the watchdog, or undefined. */
  get starving(): string | undefined {
    return this.#starving;
  }

  /** Call at each tick of the pipeline, after the tick has completed. */
  beat(pulse: Beating): void {
    const stuck = pulse.stuck();
    if (stuck !== undefined && this.#starving === undefined) {
      this.#log.error('watchdog.stuck', { why: stuck });
    } else if (stuck === undefined && this.#starving !== undefined) this.#log.info('watchdog.moving');
    this.#starving = stuck;
    if (stuck !== undefined || this.#interval === undefined) return;
    const now = this.#clock.monotonic();
    // A third of the interval tolerates a late beat; the ticks in between need no system call.
    if (now - this.#fedAt < this.#interval / 3) return;
    this.#fedAt = now;
    this.#notifier.feed();
  }

  /** Sets the interval of the beats, ms, e.g. for a car that sleeps, and extends the manager's interval accordingly. */
  slacken(every: number): void {
    if (this.#interval === undefined) return;
    this.#interval = every * 3;
    this.#fedAt = Number.NEGATIVE_INFINITY;
    this.#notifier.feedWithin(this.#interval);
  }

  /** Returns to beats of a second and the manager's initial interval, ms. */
  tighten(interval: number): void {
    if (this.#interval === undefined) return;
    this.#interval = interval;
    this.#fedAt = Number.NEGATIVE_INFINITY;
    this.#notifier.feedWithin(interval);
  }
}
