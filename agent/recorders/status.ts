import { type Slot, type SlotValue, statusObjects } from '../../protocol/slots.ts';
import type { Status } from '../model/status.ts';
import type { Publisher } from '../ports.ts';
import { type Patience, type Recorder, unchanged } from './recorder.ts';

/** A change waits this long for further ones, ms: events go out at once, drifting quantities are gathered. */
const GATHER = { event: 1_000, quantity: 10_000 };
/** Maximum age of the retained whole Status while something changes, ms. */
const WHOLE = 60_000;
/** After this time without a change, publish the whole Status, so that a new subscriber gets all of it. ms */
const QUIET = 10_000;

/**
 * Publishes Status: whole and retained when a subscriber may have missed something, otherwise every object that
 * changed since the last whole one. So a subscriber that starts at any time has the exact Status as soon as it has the
 * retained message and the next one, whichever it missed between. While the link is down nothing is queued: the newest
 * whole Status goes first when it is back.
 */
export class StatusRecorder implements Recorder {
  readonly name = 'status';
  readonly #status: Status;
  readonly #publisher: Publisher;
  readonly #patience: Patience;
  /** When the changes since the last message are to be published; infinite: there are none. */
  #due = Number.POSITIVE_INFINITY;
  /** The time of the first change that waits to be published. */
  #waitsSince = Number.POSITIVE_INFINITY;
  /** By index, 1 for objects that changed since the last whole Status. */
  readonly #changed = new Uint8Array(statusObjects.length);
  #changedAt = 0;
  #live = false;
  /** The next message must be whole. */
  #whole = true;
  #wholeAt = Number.NEGATIVE_INFINITY;
  /** Something changed since the last whole Status, be it only that a value is stale. */
  #outdated = false;

  constructor(status: Status, publisher: Publisher, patience: Patience = unchanged) {
    this.#status = status;
    this.#patience = patience;
    this.#publisher = publisher;
  }

  /** The link is up: subscribers may have missed changes, so the next publication is whole, and now. */
  linkUp(now: number): void {
    this.#live = true;
    this.#whole = true;
    // A car that was just started for the first time has no Status yet.
    if (Object.keys(this.#status.contents()).length > 0) this.#publishWhole(now);
  }

  linkDown(): void {
    this.#live = false;
  }

  changed(slot: Slot, _value: SlotValue, _previous: SlotValue | undefined, at: number): void {
    this.#changed[slot.object] = 1;
    this.#note(at, slot.kind === 'quantity' ? GATHER.quantity : GATHER.event);
  }

  /** A removal cannot be sent as a change: the next tick sends the whole Status. */
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
    // A clock that stepped back would hold everything until the old time is reached again.
    const steppedBack = now < this.#wholeAt || now < this.#changedAt - GATHER.quantity;
    const quiet = this.#due === Number.POSITIVE_INFINITY && now - this.#changedAt >= QUIET;
    if (this.#whole || quiet || steppedBack || now - this.#wholeAt >= WHOLE) this.#publishWhole(now);
    else if (now >= Math.min(this.#due, this.#waitsSince + this.#patience(GATHER.quantity))) this.#publishChanged();
  }

  flush(now: number): void {
    if (!this.#live || !this.#outdated) return;
    this.#publishWhole(now);
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
    this.#outdated = false;
    const body = { full: true, status: this.#status.contents(), ...this.#stale() };
    this.#publisher.put('status', body, { retain: true, first: true });
  }

  #publishChanged(): void {
    this.#due = Number.POSITIVE_INFINITY;
    this.#waitsSince = Number.POSITIVE_INFINITY;
    const changed = new Set<number>();
    for (const [object, noted] of this.#changed.entries()) if (noted === 1) changed.add(object);
    this.#publisher.put('status', { full: false, status: this.#status.contents(changed), ...this.#stale() });
  }

  #stale(): { stale?: number[] } {
    const { stale } = this.#status;
    return stale.length === 0 ? {} : { stale: stale.map(({ id }) => id) };
  }
}
