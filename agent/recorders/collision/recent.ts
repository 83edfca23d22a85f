import { type Reading, telemetrySlots } from '../../../protocol/schema/telemetry.ts';
import { type Slot, type SlotValue, slotById, slots } from '../../../protocol/slots.ts';

/** Maximum number of stored readings: about 500 changes a second for ten seconds. */
const CAPACITY = 5_000;

/** Id of the slot, UTC ms, value. */
export type KeptReading = readonly [slot: number, at: number, value: SlotValue];

/** 1 for each slot with stored readings, by slot index. */
const isKept = Uint8Array.from(slots, (slot) => (telemetrySlots.has(slot) ? 1 : 0));

/** All recent changes of Status, at full rate. */
export class RecentReadings {
  readonly #span: number;
  #readings: Reading[] = [];
  /** True if the readings are in order of time, as nearly always: then old ones are found at the front. */
  #ordered = true;

  /** @param span time in ms for which readings are stored */
  constructor(span: number) {
    this.#span = span;
  }

  take(slot: Slot, value: SlotValue, at: number): void {
    if (isKept[slot.index] !== 1) return;
    const moment = Math.round(at);
    const last = this.#readings.at(-1);
    if (last !== undefined && moment < last.at) this.#ordered = false;
    this.#readings.push({ slot, value, at: moment });
    if (this.#readings.length > 2 * CAPACITY) this.prune(at);
  }

  /** Removes the readings of a slot that privacy hides. */
  forget(slot: Slot): void {
    this.#readings = this.#readings.filter((reading) => reading.slot !== slot);
  }

  prune(now: number): void {
    const readings = this.#readings;
    if (this.#ordered && (readings.at(-1)?.at ?? now) <= now) {
      let old = Math.max(0, readings.length - CAPACITY);
      while (old < readings.length && (readings[old] as Reading).at < now - this.#span) old++;
      if (old > 0) readings.splice(0, old);
      return;
    }
    this.#readings = readings.filter(({ at }) => at >= now - this.#span && at <= now).slice(-CAPACITY);
    this.#ordered = this.#readings.every(({ at }, i) => i === 0 || (this.#readings[i - 1] as Reading).at <= at);
  }

  /** Returns the readings with `from` ≤ at ≤ `to`. */
  between(from: number, to: number): Reading[] {
    return this.#readings.filter(({ at }) => at >= from && at <= to).slice(-CAPACITY);
  }

  /** Returns the persisted form, for the state of the recorder. */
  state(): KeptReading[] {
    return this.#readings.map(({ slot, at, value }) => [slot.id, at, value]);
  }

  restore(kept: readonly KeptReading[]): void {
    this.#readings = kept.flatMap(([id, at, value]) => {
      const slot = slotById.get(id);
      return slot === undefined ? [] : [{ slot, at, value }];
    });
    // The next `prune` checks the order.
    this.#ordered = false;
  }

  /** Moves all times `by` ms later, because the clock was behind. */
  correct(by: number): void {
    this.#readings = this.#readings.map((reading) => ({ ...reading, at: reading.at + by }));
  }
}
