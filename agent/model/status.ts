import type { StatusContents } from '../../protocol/schema/status.ts';
import { assemble, disassemble, type Slot, type SlotValue, slots, statusObjects } from '../../protocol/slots.ts';

/** Observes the changes of Status, in the order in which they happened. */
export interface StatusObserver {
  /** Slots to observe. If omitted, all. */
  readonly watches?: Iterable<Slot>;
  /** `at` is UTC milliseconds of the reading; `previous` is undefined the first time. */
  changed?(slot: Slot, value: SlotValue, previous: SlotValue | undefined, at: number): void;
  /** Called when the value is no longer known: privacy removed it, or its subject has ended. */
  removed?(slot: Slot, previous: SlotValue, at: number): void;
  /** `stale` is true if the value has not been read within its time-out, false if it is read again. */
  stale?(slot: Slot, stale: boolean, at: number): void;
  /** Called when all readings of one frame (or fix, or answer) have been applied. */
  settled?(at: number): void;
}

/** Reads Status. Only the mapping writes Status. */
export interface StatusReader {
  value(slot: Slot): SlotValue | undefined;
  /**
   * Returns true if the slot has a value that was read within its time-out. A value without a time-out stays fresh
   * forever, even if an earlier run read it.
   */
  fresh(slot: Slot, now: number): boolean;
  /** Returns true if the value is fresh and was read in this run: it may be acted upon. */
  current(slot: Slot, now: number): boolean;
  /** Returns the tree of the interface, with all objects or with those that have an index in `objects`. */
  contents(objects?: ReadonlySet<number>): StatusContents;
}

/** Reader of Status that also returns when a value was last read, and when it last changed. */
export interface StatusListener extends StatusReader {
  /** Returns the time of the last reading since the start, UTC ms, changed or not; -Infinity if there was none. */
  seenAt(slot: Slot): number;
  /**
   * Returns the time (UTC ms) of the reading that last changed the value of the slot, which must have one. For a value
   * of an earlier run, returns the `createdAt` of its object.
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
 * change of any field of the object; an unchanged reading only renews its freshness.
 */
export class Status implements ObservedStatus {
  readonly #values: (SlotValue | undefined)[] = new Array(slots.length).fill(undefined);
  readonly #seenAt = new Float64Array(slots.length).fill(Number.NEGATIVE_INFINITY);
  readonly #changedAt = new Float64Array(slots.length).fill(Number.NaN);
  readonly #timeout = new Float64Array(slots.length).fill(Number.POSITIVE_INFINITY);
  readonly #createdAt = new Float64Array(statusObjects.length).fill(Number.NaN);
  /** Slots that can become stale. */
  readonly #expiring: Slot[] = [];
  /** 1 for each stale slot, by index. */
  readonly #stale = new Uint8Array(slots.length);
  readonly #observers: StatusObserver[] = [];
  /** Observers by index of the slot. Most changes concern few observers. */
  readonly #watchers: Watcher[][] = slots.map(() => []);
  /** Observers that are called once for each frame. */
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

  /** Notifies the observers that all readings of one frame have been written. */
  settle(at: number): void {
    for (const observer of this.#settlers) observer.settled(at);
  }

  /** Sets the time-out of a slot: a value older than `timeout` ms is no longer fresh. */
  expireAfter(slot: Slot, timeout: number): void {
    if (!this.#expiring.includes(slot)) this.#expiring.push(slot);
    this.#timeout[slot.index] = timeout;
  }

  /** Slots that have a value and are stale as of the last {@link sweep}, in order of index. */
  get stale(): readonly Slot[] {
    return this.#expiring.filter(({ index }) => this.#stale[index] === 1).sort((a, b) => a.index - b.index);
  }

  /** Detects values that have become stale or fresh. Call about once a second of the car's time. */
  sweep(now: number): void {
    for (const slot of this.#expiring) {
      const { index } = slot;
      const stale = this.#values[index] !== undefined && !this.fresh(slot, now);
      if (stale === (this.#stale[index] === 1)) continue;
      this.#stale[index] = stale ? 1 : 0;
      for (const observer of this.#observers) observer.stale?.(slot, stale, now);
    }
  }

  /** Removes a value. */
  remove(slot: Slot, at: number): void {
    const previous = this.#values[slot.index];
    if (previous === undefined) return;
    this.#values[slot.index] = undefined;
    this.#seenAt[slot.index] = Number.NEGATIVE_INFINITY;
    this.#stale[slot.index] = 0;
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
    // A reading from the future means that the clock stepped: its age is unknown.
    return this.#values[slot.index] !== undefined && age >= -1000 && age <= (this.#timeout[slot.index] as number);
  }

  current(slot: Slot, now: number): boolean {
    return this.seenAt(slot) > Number.NEGATIVE_INFINITY && this.fresh(slot, now);
  }

  /** Writes a reading that is already quantised and within the slot's range. */
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

  /** Marks the slot as {@link seen} if it already has this value. Returns false if it has another value. */
  confirm(index: number, value: SlotValue, at: number): boolean {
    if (this.#values[index] !== value) return false;
    this.#seenAt[index] = at;
    return true;
  }

  /** Call when the slot's source repeated its previous value. */
  seen(slot: Slot, at: number): void {
    this.#seenAt[slot.index] = at;
  }

  /** Does the same as {@link seen} for the slots with these indexes. */
  seenAll(indexes: Int32Array, at: number): void {
    const seenAt = this.#seenAt;
    for (let i = 0; i < indexes.length; i++) seenAt[indexes[i] as number] = at;
  }

  /** Call after the clock was stepped forward by `by` ms. Keeps the ages, or old readings would become fresh again. */
  stepped(by: number): void {
    for (const [index, at] of this.#seenAt.entries()) this.#seenAt[index] = at + by;
  }

  /**
   * Call when the time becomes known: readings between `from` and `to` (old time) were made `by` ms later. Values of an
   * earlier run have times outside this range and do not change.
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

  /** Restores values of an earlier run. Observers are not called, and no restored value is {@link current}. */
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

/** Compares two values. Sets of names and structured values are equal if their contents are equal. */
function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => sameValue((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]));
}
