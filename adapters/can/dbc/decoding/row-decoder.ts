import type { FrameBatch } from '../../../../agent/ports.ts';
import { type DecodeTables, UNWANTED } from './decode-tables.ts';
import { Halves, loadPadded, rawOf } from './extraction.ts';
import { OP_SIZE, REGISTERS } from './operation.ts';
import type { Readings } from './readings.ts';
import { RECORD_SIZE, SLOT_FIRST_ROW, SLOT_ROW_COUNT } from './slot-record.ts';
import type { Slots } from './slots.ts';

export interface ShortCounts {
  /** Number of new frames that were too short for at least one wanted signal. */
  short: number;
  /** Number of wanted signals that did not fit in their frames. */
  missed: number;
}

/** Decodes a frame row by row: a long frame, a short one, or one whose multiplexor may not select all rows. */
export class RowDecoder {
  readonly #tables: DecodeTables;
  readonly #slots: Slots;
  readonly #counts: ShortCounts;
  readonly #registers = new Int32Array(REGISTERS);
  readonly #halves = new Halves();
  /** Per row: its raw value, and whether it was present. */
  #raw = new Float64Array(0);
  #there = new Uint8Array(0);
  /** Wanted signals of the frame so far. */
  #signals = new Int32Array(0);

  constructor(tables: DecodeTables, slots: Slots, counts: ShortCounts) {
    this.#tables = tables;
    this.#slots = slots;
    this.#counts = counts;
  }

  /**
   * Writes the values of a frame of this slot consecutively to `readings`, from `begin` on.
   * @returns the wanted signals in the frame.
   */
  decodeFrame(
    view: DataView,
    batch: FrameBatch,
    frame: number,
    slot: number,
    readings: Readings,
    begin: number,
  ): readonly number[] {
    const tables = this.#tables;
    const { records } = this.#slots;
    const first = records[slot * RECORD_SIZE + SLOT_FIRST_ROW]!;
    const end = first + records[slot * RECORD_SIZE + SLOT_ROW_COUNT]!;
    const bytes = batch.length[frame]!;
    if (this.#raw.length < tables.rows) {
      const room = Math.max(tables.rows, 2 * this.#raw.length);
      this.#raw = new Float64Array(room);
      this.#there = new Uint8Array(room);
      this.#signals = new Int32Array(room);
    }
    readings.reserve(begin + end - first);
    const { values, raws } = readings;
    const { parents, indexes, needs, operations, scales } = tables;
    const rawOfRow = this.#raw;
    const there = this.#there;
    const registers = this.#registers;
    loadPadded(registers, view, batch.offset[frame]!, bytes);
    const signals = this.#signals;
    let carried = 0;
    let missed = 0;
    for (let row = first; row < end; row++) {
      const parent = parents[row]!;
      there[row] = 0;
      if (parent >= 0 && (there[parent] === 0 || !tables.selects(row, parent, rawOfRow[parent]!))) continue;
      const index = indexes[row]!;
      if (needs[row]! > bytes) {
        if (index !== UNWANTED) missed++;
        continue;
      }
      const raw = rawOf(registers, operations, row * OP_SIZE, this.#halves);
      rawOfRow[row] = raw;
      there[row] = 1;
      if (index === UNWANTED) continue;
      values[begin + carried] = raw * scales[row * 2]! + scales[row * 2 + 1]!;
      raws[begin + carried] = raw;
      signals[carried++] = index;
    }
    if (missed > 0) {
      this.#counts.short++;
      this.#counts.missed += missed;
    }
    return this.#slots.listOf(slot, signals, carried);
  }
}
