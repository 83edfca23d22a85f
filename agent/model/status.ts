import type { StatusContents } from '../../protocol/schema/status.ts';
import { assemble, disassemble, type Slot, type SlotValue, slots, statusObjects } from '../../protocol/slots.ts';

/** Sees the changes of Status, in the order they happened. */
export interface StatusObserver {
  /** Slots to observe. If omitted, all. */
  readonly watches?: Iterable<Slot>;
  /** `at` is UTC milliseconds of the reading; `previous` is undefined the first time. */
  changed?(slot: Slot, value: SlotValue, previous: SlotValue | undefined, at: number): void;
  /** The value is no longer known: privacy took it away, or what it was about has ended. */
  removed?(slot: Slot, previous: SlotValue, at: number): void;
  /** The value has not been read within its time-out (true), or is read again (false). */
  stale?(slot: Slot, stale: boolean, at: number): void;
  /** All readings of one frame (or fix, or answer) have been worked in. */
  settled?(at: number): void;
}

/** Reads Status; only the mapping writes it. */
export interface StatusReader {
  value(slot: Slot): SlotValue | undefined;
  /**
   * True when the slot has a value that was read not longer ago than its time-out. Without a time-out that holds for
   * ever, also of what an earlier run read.
   */
  fresh(slot: Slot, now: number): boolean;
  /** True when the value is fresh and was read in this run: it may be acted upon. */
  current(slot: Slot, now: number): boolean;
  /** Tree of the interface, with all objects or with those that have an index in `objects`. */
  contents(objects?: ReadonlySet<number>): StatusContents;
}

/** Also returns when a value was last read, and since when it holds. */
export interface StatusListener extends StatusReader {
  /** UTC milliseconds of the last reading since the start, also of one without a change; -Infinity: none. */
  seenAt(slot: Slot): number;
  /**
   * UTC milliseconds of the reading that changed the value of a slot that has one. Of what an earlier run knew it is the
   * `createdAt` of its object.
   */
  changedAt(slot: Slot): number;
}

/** Status with observers of its changes. */
export interface ObservedStatus extends StatusListener {
  observe(observer: StatusObserver): void;
  /** Removes the observer. An observer must not call this from its own callbacks. */
  unobserve(observer: StatusObserver): void;
}

/**
 * The car's present state: one value per slot, one `createdAt` per object. `createdAt` is the time of the last
 * change of any member of the object; that a value was read again unchanged only renews its freshness.
 */
export class Status implements ObservedStatus {
  readonly #values: (SlotValue | undefined)[] = new Array(slots.length).fill(undefined);
  readonly #seenAt = new Float64Array(slots.length).fill(Number.NEGATIVE_INFINITY);
  readonly #changedAt = new Float64Array(slots.length).fill(Number.NaN);
  readonly #timeout = new Float64Array(slots.length).fill(Number.POSITIVE_INFINITY);
  readonly #createdAt = new Float64Array(statusObjects.length).fill(Number.NaN);
  /** Slots that can become stale. */
  readonly #expiring: Slot[] = [];
  readonly #stale = new Set<Slot>();
  readonly #observers: StatusObserver[] = [];
  /** By index of the slot: observers of its changes. Most changes concern few. */
  readonly #watchers: Watcher[][] = slots.map(() => []);
  /** The observers among them that are called once for each frame. */
  readonly #settlers: Required<Pick<StatusObserver, 'settled'>>[] = [];

  observe(observer: StatusObserver): void {
    this.#observers.push(observer);
    if (watches(observer)) for (const { index } of observer.watches ?? slots) this.#watchers[index]?.push(observer);
    if (observer.settled !== undefined) this.#settlers.push(observer as Required<Pick<StatusObserver, 'settled'>>);
  }

  unobserve(observer: StatusObserver): void {
    for (const list of [this.#observers, this.#settlers, ...this.#watchers] as StatusObserver[][]) {
      const place = list.indexOf(observer);
      if (place >= 0) list.splice(place, 1);
    }
  }

  /** All readings of one frame have been written. */
  settle(at: number): void {
    for (const observer of this.#settlers) observer.settled(at);
  }

  /** A value older than `timeout` ms is no longer fresh. */
  expireAfter(slot: Slot, timeout: number): void {
    if (!this.#expiring.includes(slot)) this.#expiring.push(slot);
    this.#timeout[slot.index] = timeout;
  }

  /** Slots that have a value and are stale as of the last {@link sweep}, in order of index. */
  get stale(): readonly Slot[] {
    return [...this.#stale].sort((a, b) => a.index - b.index);
  }

  /** Finds what has become stale, or is no longer; about once a second of the car's time. */
  sweep(now: number): void {
    for (const slot of this.#expiring) {
      const stale = this.#values[slot.index] !== undefined && !this.fresh(slot, now);
      if (stale === this.#stale.has(slot)) continue;
      if (stale) this.#stale.add(slot);
      else this.#stale.delete(slot);
      for (const observer of this.#observers) observer.stale?.(slot, stale, now);
    }
  }

  /** Takes a value away. */
  remove(slot: Slot, at: number): void {
    const previous = this.#values[slot.index];
    if (previous === undefined) return;
    this.#values[slot.index] = undefined;
    this.#seenAt[slot.index] = Number.NEGATIVE_INFINITY;
    this.#stale.delete(slot);
    this.#createdAt[slot.object] = at;
    for (const observer of this.#observers) observer.removed?.(slot, previous, at);
  }

  value(slot: Slot): SlotValue | undefined {
    return this.#values[slot.index];
  }

  seenAt(slot: Slot): number {
    return this.#seenAt[slot.index] as number;
  }

  changedAt(slot: Slot): number {
    return this.#changedAt[slot.index] as number;
  }

  fresh(slot: Slot, now: number): boolean {
    const age = now - (this.#seenAt[slot.index] as number);
    // A reading from the future means that the clock stepped: how old it is cannot be said.
    return this.#values[slot.index] !== undefined && age >= -1000 && age <= (this.#timeout[slot.index] as number);
  }

  current(slot: Slot, now: number): boolean {
    return this.seenAt(slot) > Number.NEGATIVE_INFINITY && this.fresh(slot, now);
  }

  /** Takes a reading that is already quantised and within the slot's range. */
  write(slot: Slot, value: SlotValue, at: number): void {
    const index = slot.index;
    this.#seenAt[index] = at;
    const previous = this.#values[index];
    if (previous === value || (typeof value === 'object' && sameValue(previous, value))) return;
    this.#values[index] = value;
    this.#changedAt[index] = at;
    this.#createdAt[slot.object] = at;
    const watchers = this.#watchers[index] as Watcher[];
    for (let i = 0; i < watchers.length; i++) (watchers[i] as Watcher).changed(slot, value, previous, at);
  }

  /** The slot with this index has this value already, which is noted as {@link seen}; false when it has another. */
  confirm(index: number, value: SlotValue, at: number): boolean {
    if (this.#values[index] !== value) return false;
    this.#seenAt[index] = at;
    return true;
  }

  /** The slot's source repeated the value it gave before. */
  seen(slot: Slot, at: number): void {
    this.#seenAt[slot.index] = at;
  }

  /** As {@link seen}, for the slots with these indexes. */
  seenAll(indexes: Int32Array, at: number): void {
    const seenAt = this.#seenAt;
    for (let i = 0; i < indexes.length; i++) seenAt[indexes[i] as number] = at;
  }

  /** The clock was set `by` ms later: readings are as old as they were, or one of long ago would be fresh again. */
  stepped(by: number): void {
    for (const [index, at] of this.#seenAt.entries()) this.#seenAt[index] = at + by;
  }

  /**
   * The clock became known: what was read between `from` and `to`, by the old time, was read `by` ms later. What an
   * earlier run knew lies outside and stays.
   */
  correct(by: number, from: number, to: number): void {
    for (const times of [this.#createdAt, this.#seenAt, this.#changedAt]) {
      for (const [index, at] of times.entries()) if (at >= from && at <= to) times[index] = at + by;
    }
    for (const { index, kind } of slots) {
      const value = this.#values[index];
      if (kind === 'instant' && typeof value === 'number' && value >= from && value <= to)
        this.#values[index] = value + by;
    }
  }

  contents(objects?: ReadonlySet<number>): StatusContents {
    return assemble(this.#values, this.#createdAt, objects);
  }

  /** Puts back what an earlier run knew. Observers are not called, and nothing restored is {@link current}. */
  restore(contents: object): void {
    for (const { slot, value, at } of disassemble(contents)) {
      this.#values[slot.index] = value;
      this.#changedAt[slot.index] = at;
      this.#createdAt[slot.object] = at;
    }
  }
}

type Watcher = StatusObserver & Required<Pick<StatusObserver, 'changed'>>;

function watches(observer: StatusObserver): observer is Watcher {
  return observer.changed !== undefined;
}

/** Sets of names and structured values are equal when their contents are. */
function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => sameValue((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]));
}
