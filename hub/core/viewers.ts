/** Cars with present viewers. The hub notifies each car, which then sends at once and collects nothing to save bytes. */
import { downTopic } from '../../protocol/topics.ts';
import { encodeWatch } from '../../protocol/watch.ts';
import type { HubLog, WallClock } from './ports.ts';

/** A car returns to its own pace this long after the last viewer; the hub renews the watch as often, ms. */
const LEASE = 180_000;
const RENEWAL = 60_000;

interface ViewersParts {
  readonly clock: WallClock;
  readonly log: HubLog;
  /** Hands a message to the broker; rejects when it does not take it. */
  readonly publish: (topic: string, payload: Uint8Array) => Promise<void>;
}

export class Viewers {
  readonly #parts: ViewersParts;
  /** Time of the last notification of each car, UTC ms. */
  readonly #told = new Map<string, number>();

  constructor(parts: ViewersParts) {
    this.#parts = parts;
  }

  /** Somebody looks at a car that the hub knows. A broker that refuses is logged: the values come all the same, later. */
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
