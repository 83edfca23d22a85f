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
  readonly name = 'status';
  readonly #status: Status;
  readonly #publisher: Publisher;
  /** Objects that changed, with the moment at which that is to be published. */
  readonly #dirty = new Map<number, number>();
  #live = false;
  #whole = true;
  #wholeAt = Number.NEGATIVE_INFINITY;
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
    if (Object.keys(this.#status.contents()).length > 0) this.#publishWhole(now);
  }

  linkDown(): void {
    this.#live = false;
  }

  changed(slot: Slot, _value: SlotValue, _previous: SlotValue | undefined, at: number): void {
    this.#outdated = true;
    const due = at + (slot.kind === 'quantity' ? GATHER.quantity : GATHER.event);
    const before = this.#dirty.get(slot.object);
    if (before === undefined || due < before) this.#dirty.set(slot.object, due);
  }

  /** What must be forgotten is told with the whole of what is known, at the next tick. */
  removed(): void {
    this.#outdated = true;
    this.#whole = true;
  }

  tick(now: number): void {
    if (!this.#live) return;
    // A clock that stepped back would hold everything until the old time is reached again.
    const steppedBack = now < this.#wholeAt;
    if (this.#outdated && (now - this.#wholeAt >= WHOLE || steppedBack)) this.#whole = true;
    if (this.#whole) {
      if (this.#outdated) this.#publishWhole(now);
      return;
    }
    const due = new Set<number>();
    for (const [object, at] of this.#dirty) if (now >= at) due.add(object);
    if (due.size > 0) this.#publishObjects(due);
  }

  flush(now: number): void {
    if (!this.#live || this.#dirty.size === 0) return;
    if (this.#whole) this.#publishWhole(now);
    else this.#publishObjects(new Set(this.#dirty.keys()));
  }

  #publishWhole(now: number): void {
    this.#dirty.clear();
    this.#whole = false;
    this.#wholeAt = now;
    this.#outdated = false;
    this.#publisher.put('status', { full: true, status: this.#status.contents() }, { retain: true, first: true });
  }

  #publishObjects(objects: ReadonlySet<number>): void {
    for (const object of objects) this.#dirty.delete(object);
    this.#publisher.put('status', { full: false, status: this.#status.contents(objects) });
  }
}
