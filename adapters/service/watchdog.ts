import type { Clock, Log } from '../../agent/ports.ts';
import type { SystemdNotifier } from './notify.ts';

/** Says why what it stands for is stuck; undefined: it moves. */
interface Beating {
  stuck(): string | undefined;
}

/**
 * Feeds the service manager's watchdog when the pipeline beats, and only then: it has no timer of its own, so that
 * what stops the pipeline stops the feeding.
 */
export class Watchdog {
  readonly #notifier: SystemdNotifier;
  readonly #clock: Clock;
  readonly #log: Log;
  #interval: number | undefined;
  #fedAt = Number.NEGATIVE_INFINITY;
  #starving: string | undefined;

  /** `interval`: the manager expects a beat within it, ms; undefined: no manager, but the log reports a stuck part. */
  constructor(notifier: SystemdNotifier, clock: Clock, log: Log, interval: number | undefined) {
    this.#notifier = notifier;
    this.#clock = clock;
    this.#log = log;
    this.#interval = interval;
  }

  /** Whether it was refused food at the last beat, and why. */
  get starving(): string | undefined {
    return this.#starving;
  }

  /** To be called at each tick of the pipeline, after it ran to its end. */
  beat(pulse: Beating): void {
    const stuck = pulse.stuck();
    if (stuck !== undefined && this.#starving === undefined) {
      this.#log.error('watchdog.stuck', { why: stuck });
    } else if (stuck === undefined && this.#starving !== undefined) this.#log.info('watchdog.moving');
    this.#starving = stuck;
    if (stuck !== undefined || this.#interval === undefined) return;
    const now = this.#clock.monotonic();
    // A third of the time leaves room for a beat that is late; the ticks between cost no system call.
    if (now - this.#fedAt < this.#interval / 3) return;
    this.#fedAt = now;
    this.#notifier.feed();
  }

  /** Sets the interval of the beats, ms, as in a car that sleeps, and asks the manager to wait as much longer. */
  slacken(every: number): void {
    if (this.#interval === undefined) return;
    this.#interval = every * 3;
    this.#fedAt = Number.NEGATIVE_INFINITY;
    this.#notifier.feedWithin(this.#interval);
  }

  /** Back to beats of a second and the manager's first interval, ms. */
  tighten(interval: number): void {
    if (this.#interval === undefined) return;
    this.#interval = interval;
    this.#fedAt = Number.NEGATIVE_INFINITY;
    this.#notifier.feedWithin(interval);
  }
}
