import { defined } from '../../protocol/defined.ts';
import type { StatusMessage } from '../../protocol/schema/status-message.ts';
import { type Slot, type SlotValue, statusObjects } from '../../protocol/slots.ts';
import type { Status } from '../model/status.ts';
import type { Publisher } from '../ports.ts';
import { type Patience, type Recorder, type TripProgress, unchanged } from './recorder.ts';

/** Time in ms for which a change waits for further ones: events are sent soon, drifting quantities are collected. */
const GATHER = { event: 1_000, quantity: 10_000 };
/** Maximum age in ms of the retained complete Status while values change. */
const WHOLE = 60_000;
/** Time in ms without a change after which the complete Status is published, so that new subscribers get all of it. */
const QUIET = 10_000;

/**
 * Publishes Status: complete and retained if a subscriber may have missed something, otherwise every object that
 * changed since the last complete one. So a subscriber that starts at any time has the exact Status when it has the
 * retained message and the next one, whichever messages it missed in between. While the link is down nothing is queued:
 * after reconnection the newest complete Status is sent first.
 */
export class StatusRecorder implements Recorder {
  readonly name = 'status';
  readonly #status: Status;
  readonly #publisher: Publisher;
  readonly #patience: Patience;
  readonly #trips: TripProgress;
  /** Id of the open trip in the last complete Status. */
  #tripId: string | undefined;
  /** Time at which the changes since the last message must be published; infinite if there are none. */
  #due = Number.POSITIVE_INFINITY;
  /** Time of the first unpublished change. */
  #waitsSince = Number.POSITIVE_INFINITY;
  /** 1 for each object that changed since the last complete Status, by object index. */
  readonly #changed = new Uint8Array(statusObjects.length);
  #changedAt = 0;
  #live = false;
  /** True if the next message must be complete. */
  #whole = true;
  #wholeAt = Number.NEGATIVE_INFINITY;
  /** Time of the last message, complete or not. */
  #publishedAt = Number.NEGATIVE_INFINITY;
  /** True if something changed since the last complete Status, even if only a value became stale. */
  #outdated = false;

  constructor(
    status: Status,
    publisher: Publisher,
    patience: Patience = unchanged,
    trips: TripProgress = { progress: () => undefined },
  ) {
    this.#status = status;
    this.#patience = patience;
    this.#publisher = publisher;
    this.#trips = trips;
  }

  /** Call when the link is up. Subscribers may have missed changes: the next publication is complete and immediate. */
  linkUp(now: number): void {
    this.#live = true;
    this.#whole = true;
    // The car has no Status yet at its very first start.
    if (Object.keys(this.#status.contents()).length > 0) this.#publishWhole(now);
  }

  linkDown(): void {
    this.#live = false;
  }

  changed(slot: Slot, _value: SlotValue, _previous: SlotValue | undefined, at: number): void {
    this.#changed[slot.object] = 1;
    this.#note(at, slot.kind === 'quantity' ? this.#gatherQuantity(at) : GATHER.event);
  }

  /** A removal cannot be sent as a change: the next tick sends the complete Status. */
  removed(_slot: Slot, _previous: SlotValue, at: number): void {
    this.#note(at, 0);
    this.#whole = true;
  }

  stale(_slot: Slot, _stale: boolean, at: number): void {
    this.#note(at, GATHER.event);
  }

  /** Call after a clock correction: the last Status has wrong times. */
  correct(): void {
    this.#whole = true;
    this.#outdated = true;
  }

  tick(now: number): void {
    if (!this.#live || !this.#outdated) return;
    // If the clock stepped back, nothing would be published until the old time is reached again.
    const steppedBack = now < this.#wholeAt || now < this.#changedAt - GATHER.quantity;
    const quiet = this.#due === Number.POSITIVE_INFINITY && now - this.#changedAt >= QUIET;
    if (this.#whole || quiet || steppedBack || now - this.#wholeAt >= WHOLE) this.#publishWhole(now);
    else if (now >= Math.min(this.#due, this.#waitsSince + this.#patience(GATHER.quantity))) this.#publishChanged(now);
  }

  flush(now: number): void {
    if (!this.#live || !this.#outdated) return;
    this.#publishWhole(now);
  }

  /**
   * A quantity that drifts after a pause is sent like an event. While quantities drift all the time, messages keep the
   * same distance: the next change follows a message at once, and waits from there.
   */
  #gatherQuantity(at: number): number {
    const sincePublished = Math.max(0, at - this.#publishedAt);
    return Math.min(GATHER.quantity, Math.max(GATHER.event, GATHER.quantity + GATHER.event - sincePublished));
  }

  #note(at: number, wait: number): void {
    this.#outdated = true;
    this.#changedAt = at;
    this.#due = Math.min(this.#due, at + wait);
    this.#waitsSince = Math.min(this.#waitsSince, at);
  }

  #publishWhole(now: number): void {
    this.#changed.fill(0);
    this.#due = Number.POSITIVE_INFINITY;
    this.#waitsSince = Number.POSITIVE_INFINITY;
    this.#whole = false;
    this.#wholeAt = now;
    this.#publishedAt = now;
    this.#outdated = false;
    const body = { full: true, status: this.#status.contents(), ...this.#beside(now, true) };
    this.#publisher.put('status', body, { retain: true, first: true });
  }

  #publishChanged(now: number): void {
    this.#due = Number.POSITIVE_INFINITY;
    this.#waitsSince = Number.POSITIVE_INFINITY;
    this.#publishedAt = now;
    const changed = new Set<number>();
    this.#changed.forEach((noted, object) => {
      if (noted === 1) changed.add(object);
    });
    this.#publisher.put('status', { full: false, status: this.#status.contents(changed), ...this.#beside(now, false) });
  }

  #beside(now: number, whole: boolean): Pick<StatusMessage, 'stale' | 'trip'> {
    const { stale } = this.#status;
    const { id, ...progress } = this.#trips.progress(now, whole) ?? {};
    // An id is longer than the rest.
    const isKnown = !whole && id === this.#tripId;
    if (whole) this.#tripId = id;
    const trip = id === undefined ? undefined : { ...(isKnown ? {} : { id }), ...progress };
    return { ...(stale.length === 0 ? {} : { stale: stale.map(({ id }) => id) }), ...defined({ trip }) };
  }
}
