import type { Clock, Log } from '../../agent/ports.ts';
import type { SystemdNotifier } from './notify.ts';

/** Returns the reason why the pipeline is stuck, or undefined if it makes progress. */
interface Beating {
  stuck(): string | undefined;
}

/**
 * Feeds the service manager's watchdog only while the pipeline beats. It has no timer of its own, so if the pipeline
 * stops, the watchdog is no longer fed.
 */
export class Watchdog {
  readonly #notifier: SystemdNotifier;
  readonly #clock: Clock;
  readonly #log: Log;
  #interval: number | undefined;
  #fedAt = Number.NEGATIVE_INFINITY;
  #starving: string | undefined;

  /** @param interval the manager's watchdog interval in ms; undefined: no manager, but a stuck pipeline is logged */
  constructor(notifier: SystemdNotifier, clock: Clock, log: Log, interval: number | undefined) {
    this.#notifier = notifier;
    this.#clock = clock;
    this.#log = log;
    this.#interval = interval;
  }

  /** Reason why the last beat did not feed the watchdog, or undefined if it did. */
  get starving(): string | undefined {
    return this.#starving;
  }

  /** Call after each completed tick of the pipeline. */
  beat(pulse: Beating): void {
    const stuck = pulse.stuck();
    if (stuck !== undefined && this.#starving === undefined) {
      this.#log.error('watchdog.stuck', { why: stuck });
    } else if (stuck === undefined && this.#starving !== undefined) this.#log.info('watchdog.moving');
    this.#starving = stuck;
    if (stuck !== undefined || this.#interval === undefined) return;
    const now = this.#clock.monotonic();
    // Feeding every third of the interval tolerates a late beat, and saves system calls at the ticks in between.
    if (now - this.#fedAt < this.#interval / 3) return;
    this.#fedAt = now;
    this.#notifier.feed();
  }

  /** Sets the interval of beats in ms, e.g. for a sleeping car, and extends the manager's interval accordingly. */
  slacken(every: number): void {
    if (this.#interval === undefined) return;
    this.#interval = every * 3;
    this.#fedAt = Number.NEGATIVE_INFINITY;
    this.#notifier.feedWithin(this.#interval);
  }

  /** Returns to a beat per second and to the manager's initial interval, given in ms. */
  tighten(interval: number): void {
    if (this.#interval === undefined) return;
    this.#interval = interval;
    this.#fedAt = Number.NEGATIVE_INFINITY;
    this.#notifier.feedWithin(interval);
  }
}
