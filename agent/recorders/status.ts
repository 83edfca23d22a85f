import type { Slot, SlotValue } from '../../protocol/slots.ts';
import type { Publisher } from '../ports.ts';
import type { Status } from '../status.ts';
import type { Recorder } from './recorder.ts';

/** A delta waits this long for further changes, ms: what happens is told at once, what drifts is gathered. */
const GATHER = { event: 1_000, quantity: 10_000 };
/**
 * The retained whole Status is not older than this while anything changes, ms: the bound on how long a late
 * subscriber, who has missed the deltas since, waits to be exact.
 */
const WHOLE = 60_000;

/**
 * Publishes Status: whole and retained when a subscriber may have missed something, otherwise the objects that
 * changed. While the link is down nothing is queued: the newest whole Status goes first when it is back.
 */
export class StatusRecorder implements Recorder {
  readonly #status: Status;
  readonly #publisher: Publisher;
  readonly #dirty = new Set<number>();
  #live = false;
  #whole = true;
  #wholeAt = Number.NEGATIVE_INFINITY;
  /** When the gathered changes are to be published. */
  #due = Number.POSITIVE_INFINITY;
  /** Something changed since the last whole Status. */
  #outdated = false;

  constructor(status: Status, publisher: Publisher) {
    this.#status = status;
    this.#publisher = publisher;
  }

  /** The link is up: whoever listens may have missed anything, so the next publication is whole, and now. */
  linkUp(now: number): void {
    this.#live = true;
    this.#whole = true;
    // A car that has just been started for the first time knows nothing worth telling yet.
    if (Object.keys(this.#status.contents()).length > 0) this.#publish(now);
  }

  linkDown(): void {
    this.#live = false;
  }

  changed(slot: Slot, _value: SlotValue, _previous: SlotValue | undefined, at: number): void {
    this.#dirty.add(slot.object);
    this.#outdated = true;
    this.#due = Math.min(this.#due, at + (slot.kind === 'quantity' ? GATHER.quantity : GATHER.event));
  }

  tick(now: number): void {
    if (!this.#live) return;
    if (this.#outdated && now - this.#wholeAt >= WHOLE) this.#whole = true;
    if (this.#dirty.size > 0 && (this.#whole || now >= this.#due)) this.#publish(now);
    else if (this.#whole && this.#outdated) this.#publish(now);
  }

  flush(now: number): void {
    if (this.#live && this.#dirty.size > 0) this.#publish(now);
  }

  #publish(now: number): void {
    const full = this.#whole;
    const status = full ? this.#status.contents() : this.#status.contents(this.#dirty);
    this.#dirty.clear();
    this.#due = Number.POSITIVE_INFINITY;
    this.#whole = false;
    if (full) {
      this.#wholeAt = now;
      this.#outdated = false;
    }
    this.#publisher.put('status', { full, status }, { retain: full, first: full });
  }
}
