import { REACH } from '../../protocol/columns/numbers.ts';
import type { CustomSignal } from '../../protocol/profile.ts';

/** Observes the values of custom signals. */
export interface CustomSignalObserver {
  /** Called when the signal with this index has another value. `at` is the time of the reading, UTC ms. */
  changed(place: number, count: number, at: number): void;
  /** Called when the car reports that the signal has no value. */
  absent?(place: number, at: number): void;
}

/** A level above those of privacy: readings are known but not passed on. */
export const PAUSED = 3;

/** Conversions of a reading to its integer. */
const RAW = 0;
const COUNTED = 1;
const FLAG = 2;

/**
 * The present value of each custom signal, as an integer count. Stored in columns by index in the profile, because
 * there are thousands of signals.
 */
export class Signals {
  /** Number of readings received. */
  readings = 0;
  /** Number of readings with an impossible value. */
  rejected = 0;
  readonly size: number;
  /** NaN if the signal has no value. */
  readonly #counts: Float64Array;
  readonly #seenAt: Float64Array;
  readonly #changedAt: Float64Array;
  readonly #timeout: Float64Array;
  readonly #form: Uint8Array;
  readonly #scale: Float64Array;
  readonly #shift: Float64Array;
  /** Lowest level of privacy that hides the signal. */
  readonly #hiddenFrom: Uint8Array;
  readonly #invalid: (ReadonlySet<number> | undefined)[];
  readonly #level: (at?: number) => number;
  /** Values hidden by privacy: they may still be valid when it ends, and an unchanged frame is not converted again. */
  readonly #withheld = new Map<number, number>();
  #observers: readonly CustomSignalObserver[] = [];

  /** @param level level of privacy, now or at a time: 0 hides nothing, 1 positions, 2 all; or {@link PAUSED} */
  constructor(signals: readonly CustomSignal[], level: (at?: number) => number) {
    this.size = signals.length;
    this.#level = level;
    this.#counts = new Float64Array(this.size).fill(Number.NaN);
    this.#seenAt = new Float64Array(this.size).fill(Number.NEGATIVE_INFINITY);
    this.#changedAt = new Float64Array(this.size).fill(Number.NaN);
    this.#timeout = Float64Array.from(signals, ({ timeout }) => timeout ?? Number.POSITIVE_INFINITY);
    this.#form = Uint8Array.from(signals, ({ kind, raw }) => (kind === 'flag' ? FLAG : raw ? RAW : COUNTED));
    // count = (physical × scale + shift - offset) / resolution
    const divisor = ({ kind, resolution = 1 }: CustomSignal): number => (kind === 'quantity' ? resolution : 1);
    this.#scale = Float64Array.from(signals, (signal) => signal.scale / divisor(signal));
    this.#shift = Float64Array.from(signals, (signal) => (signal.shift - (signal.offset ?? 0)) / divisor(signal));
    this.#hiddenFrom = Uint8Array.from(signals, ({ position }) => (position ? 1 : 2));
    this.#invalid = signals.map(({ invalid }) => (invalid.length === 0 ? undefined : new Set(invalid)));
  }

  /** Number of observers. While there are none, no part needs the signals. */
  get watchers(): number {
    return this.#observers.length;
  }

  /** Notifies the observer of changes until the returned function is called. */
  observe(observer: CustomSignalObserver): () => void {
    this.#observers = [...this.#observers, observer];
    return () => {
      this.#observers = this.#observers.filter((other) => other !== observer);
    };
  }

  /** Returns the integer that represents the value, or NaN if there is no value or privacy hides it. */
  count(place: number): number {
    return this.hidden(place) ? Number.NaN : (this.#counts[place] as number);
  }

  /** Returns the time of the last reading, UTC ms, changed or not; -Infinity if there was none. */
  seenAt(place: number): number {
    return this.#seenAt[place] as number;
  }

  /** Returns the time of the reading that last changed the value, UTC ms. */
  changedAt(place: number): number {
    return this.#changedAt[place] as number;
  }

  /** Returns true if the signal has a value that was read within its time-out. */
  fresh(place: number, now: number): boolean {
    const age = now - (this.#seenAt[place] as number);
    // As in Status: a reading from the future has no known age.
    return !Number.isNaN(this.count(place)) && age >= -1000 && age <= (this.#timeout[place] as number);
  }

  hidden(place: number): boolean {
    return (this.#hiddenFrom[place] as number) <= this.#level();
  }

  reading(place: number, value: number, raw: number, at: number): void {
    this.readings++;
    const count = this.#invalid[place]?.has(raw) === true ? Number.NaN : this.#countOf(place, value, raw);
    if (this.#isPrivate(place, at)) this.#withhold(place, count);
    else {
      if (this.#withheld.size > 0) this.#withheld.delete(place);
      this.#take(place, count, at);
    }
  }

  /** Call when the frame with these signals was repeated unchanged. */
  seen(places: Int32Array, at: number): void {
    if (this.#withheld.size > 0 || this.#level(at) > 0) {
      for (const place of places) this.#seenOne(place, at);
      return;
    }
    for (let i = 0; i < places.length; i++) this.#seenAt[places[i] as number] = at;
  }

  #seenOne(place: number, at: number): void {
    const withheld = this.#withheld.get(place);
    if (this.#isPrivate(place, at)) {
      if (withheld === undefined) this.#withhold(place, this.#counts[place] as number);
    } else if (withheld === undefined) this.#seenAt[place] = at;
    else {
      this.#withheld.delete(place);
      this.#take(place, withheld, at);
    }
  }

  #isPrivate(place: number, at: number): boolean {
    const level = this.#level(at);
    return (this.#hiddenFrom[place] as number) <= level && level < PAUSED;
  }

  /** Stores a reading that privacy hides: the signal has no value until it is read after the private time. */
  #withhold(place: number, count: number): void {
    this.#withheld.set(place, count);
    this.#counts[place] = Number.NaN;
  }

  #take(place: number, count: number, at: number): void {
    this.#seenAt[place] = at;
    const before = this.#counts[place] as number;
    if (count === before) return;
    if (Number.isNaN(count)) {
      if (Number.isNaN(before)) return;
      this.#counts[place] = Number.NaN;
      for (const observer of this.#observers) observer.absent?.(place, at);
      return;
    }
    this.#counts[place] = count;
    this.#changedAt[place] = at;
    // Signals are also hidden while collection is paused.
    if (this.hidden(place)) return;
    for (const observer of this.#observers) observer.changed(place, count, at);
  }

  /** Call after the clock was stepped forward by `by` ms. */
  stepped(by: number): void {
    for (const times of [this.#seenAt, this.#changedAt]) for (const [i, at] of times.entries()) times[i] = at + by;
  }

  #countOf(place: number, value: number, raw: number): number {
    const form = this.#form[place] as number;
    const counted = form === RAW ? raw : value * (this.#scale[place] as number) + (this.#shift[place] as number);
    if (form === FLAG) return counted === 0 ? 0 : 1;
    const count = Math.round(counted) + 0;
    if (Math.abs(count) <= REACH) return count;
    this.rejected++;
    return Number.NaN;
  }
}
