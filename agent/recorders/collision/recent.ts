import { isTelemetry, type Reading } from '../../../protocol/schema/telemetry.ts';
import { type Slot, type SlotValue, slotById } from '../../../protocol/slots.ts';

/** Bound on the readings kept, about 500 changes a second for ten seconds. */
const CAPACITY = 5_000;

/** Id of the slot, UTC ms, value. */
export type KeptReading = readonly [slot: number, at: number, value: SlotValue];

/** Every change of Status of the last moments, at full rate. */
export class RecentReadings {
  readonly #span: number;
  #readings: Reading[] = [];

  /** @param span ms that are kept */
  constructor(span: number) {
    this.#span = span;
  }

  take(slot: Slot, value: SlotValue, at: number): void {
    if (!isTelemetry(slot)) return;
    this.#readings.push({ slot, value, at: Math.round(at) });
    if (this.#readings.length > 2 * CAPACITY) this.prune(at);
  }

  /** What is no longer known, because privacy took it away, must not come out of here either. */
  forget(slot: Slot): void {
    this.#readings = this.#readings.filter((reading) => reading.slot !== slot);
  }

  prune(now: number): void {
    this.#readings = this.#readings.filter(({ at }) => at >= now - this.#span && at <= now).slice(-CAPACITY);
  }

  /** Those with `from` ≤ at ≤ `to`. */
  between(from: number, to: number): Reading[] {
    return this.#readings.filter(({ at }) => at >= from && at <= to).slice(-CAPACITY);
  }

  /** All that is kept, as a recorder's state has it. */
  state(): KeptReading[] {
    return this.#readings.map(({ slot, at, value }) => [slot.id, at, value]);
  }

  restore(kept: readonly KeptReading[]): void {
    this.#readings = kept.flatMap(([id, at, value]) => {
      const slot = slotById.get(id);
      return slot === undefined ? [] : [{ slot, at, value }];
    });
  }

  /** The clock was `by` ms behind. */
  correct(by: number): void {
    this.#readings = this.#readings.map((reading) => ({ ...reading, at: reading.at + by }));
  }
}
