/** Notifies cars that have viewers. Such a car sends values at once and does not batch them to save bytes. */
import { downTopic } from '../../protocol/topics.ts';
import { encodeWatch } from '../../protocol/watch.ts';
import type { HubLog, WallClock } from './ports.ts';

/** Time in ms from the last viewer until a car returns to its own send interval, and from one renewal to the next. */
const LEASE = 180_000;
const RENEWAL = 60_000;

interface ViewersParts {
  readonly clock: WallClock;
  readonly log: HubLog;
  /** Passes a message to the broker. Rejects if the broker does not accept it. */
  readonly publish: (topic: string, payload: Uint8Array) => Promise<void>;
}

export class Viewers {
  readonly #parts: ViewersParts;
  /** Time of the last notification of each car in UTC ms. */
  readonly #told = new Map<string, number>();

  constructor(parts: ViewersParts) {
    this.#parts = parts;
  }

  /** Call when somebody views a known car. If the broker refuses, logs this: the values then arrive later. */
  look(vin: string): void {
    const { clock, log, publish } = this.#parts;
    const now = clock.now();
    const told = this.#told.get(vin);
    if (told !== undefined && Math.abs(now - told) < RENEWAL) return;
    for (const [one, at] of this.#told) if (Math.abs(now - at) >= RENEWAL) this.#told.delete(one);
    this.#told.set(vin, now);
    publish(downTopic(vin, 'watch'), encodeWatch({ until: Math.round(now) + LEASE })).catch((error: Error) =>
      log.warn('hub.watch.unsent', { vin, error: error.message }),
    );
  }
}
