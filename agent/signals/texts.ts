import type { TextSignal } from '../../protocol/profile.ts';
import { LONGEST_TEXT } from '../../protocol/schema/text.ts';
import type { Records } from '../records.ts';

/** Observes the values of text signals. */
type TextObserver = (place: number, at: number) => void;

/**
 * The present value of each text signal. A value that differs from the last recorded one is recorded and published.
 * The last recorded values are not stored across a restart, so each value is recorded again then.
 */
export class Texts {
  readonly size: number;
  readonly #signals: readonly TextSignal[];
  readonly #records: Pick<Records, 'append'>;
  readonly #level: (at?: number) => number;
  readonly #now: (string | undefined)[];
  readonly #seenAt: Float64Array;
  readonly #changedAt: Float64Array;
  readonly #recorded: (string | undefined)[];
  #observers: readonly TextObserver[] = [];

  /** @param level level of privacy, now or at a time: 0 hides nothing, 1 positions, 2 all */
  constructor(signals: readonly TextSignal[], records: Pick<Records, 'append'>, level: (at?: number) => number) {
    this.size = signals.length;
    this.#signals = signals;
    this.#records = records;
    this.#level = level;
    this.#now = signals.map(() => undefined);
    this.#recorded = signals.map(() => undefined);
    this.#seenAt = new Float64Array(this.size).fill(Number.NEGATIVE_INFINITY);
    this.#changedAt = new Float64Array(this.size).fill(Number.NaN);
  }

  observe(observer: TextObserver): void {
    this.#observers = [...this.#observers, observer];
  }

  /** Processes a reading. A reading that privacy hides is not recorded; the first one after that is. */
  take(place: number, text: string, at: number): void {
    if (this.#hiddenAt(place, at)) {
      this.#now[place] = undefined;
      return;
    }
    const value = text.slice(0, LONGEST_TEXT);
    this.#seenAt[place] = at;
    const isNew = value !== this.#now[place];
    if (isNew) {
      this.#now[place] = value;
      this.#changedAt[place] = at;
    }
    if (value !== this.#recorded[place]) {
      this.#recorded[place] = value;
      const { name } = this.#signals[place] as TextSignal;
      this.#records.append('text', { at: Math.round(at), name, text: value }, at);
    }
    if (isNew) for (const observer of this.#observers) observer(place, at);
  }

  /** Returns undefined if there is no value, or privacy hides it. */
  text(place: number): string | undefined {
    return this.hidden(place) ? undefined : this.#now[place];
  }

  /** Returns the time of the reading that last changed the value, UTC ms. */
  changedAt(place: number): number {
    return this.#changedAt[place] as number;
  }

  /** Returns true if the value was read within its time-out. */
  fresh(place: number, now: number): boolean {
    const age = now - (this.#seenAt[place] as number);
    return age >= -1000 && age <= (this.#signals[place]?.timeout ?? Number.POSITIVE_INFINITY);
  }

  hidden(place: number): boolean {
    return this.#hiddenAt(place);
  }

  #hiddenAt(place: number, at?: number): boolean {
    return (this.#signals[place]?.position === true ? 1 : 2) <= this.#level(at);
  }

  /** Call after the clock was stepped forward by `by` ms. */
  stepped(by: number): void {
    for (const times of [this.#seenAt, this.#changedAt]) for (const [i, at] of times.entries()) times[i] = at + by;
  }
}
