/**
 * Decodes the frames that wait in a slot together, signal by signal: what is known of a signal is loaded once for all
 * of them, and nothing in the loops over the frames depends on it. That takes two thirds of the time that frame by
 * frame takes.
 *
 * The loops are functions of their own so that each needs few registers, and take two frames a turn because half of
 * what a turn costs is the turning. Sums of integers end in `| 0`, which spares a test for overflow.
 */
import type { DecodeTables } from './decode-tables.ts';
import { Halves, rawOf } from './extraction.ts';
import {
  BIG,
  DOWN,
  KIND,
  LEFT,
  LITTLE,
  MASK,
  OTHER,
  REGISTERS,
  RIGHT,
  SIGNED,
  SIGNED_PAIR,
  STRIDE,
  UNSIGNED,
  UNSIGNED_PAIR,
  WORD,
} from './operation.ts';
import {
  BEGIN,
  GROUP_SHIFT,
  GROUP_SIZE,
  MOST_WAITING,
  LIST as OF_GROUP,
  type Readings,
  STEP,
  WAITING,
} from './readings.ts';
import { BIG_HIGH, BIG_LOW, BIG_ROWS, HIGH, LIST, LOW, NEXT, ROW, ROWS, RUN } from './slot-record.ts';

export class ColumnDecoder {
  readonly #registers = new Int32Array(REGISTERS);
  readonly #halves = new Halves();
  #view = new DataView<ArrayBufferLike>(new ArrayBuffer(0));

  /**
   * Decodes the frames that wait in the slot whose record begins at `record`, into `readings` from `begin` on;
   * afterwards none wait. Returns where the next values may begin.
   */
  decode(records: Int32Array, record: number, tables: DecodeTables, readings: Readings, begin: number): number {
    const latest = records[record + NEXT]! - 1;
    const count = (latest & WAITING) + 1;
    const group = (latest >>> GROUP_SHIFT) * GROUP_SIZE;
    const first = records[record + ROW]!;
    const rows = records[record + ROWS]!;
    readings.reserve(begin + rows * count);
    const { groups } = readings;
    groups[group + OF_GROUP] = records[record + LIST]!;
    groups[group + BEGIN] = begin;
    groups[group + STEP] = count;
    if (records[record + BIG_ROWS] !== 0) this.#swap(records, record, count);
    const { operations, scales } = tables;
    const { values, raws } = readings;
    let place = begin;
    for (let row = first; row < first + rows; row++, place += count) {
      const at = row * STRIDE;
      const kind = operations[at + KIND]!;
      const from = record + runOf(operations[at + WORD]!);
      const to = from + count;
      const left = operations[at + LEFT]!;
      const right = operations[at + RIGHT]!;
      const mask = operations[at + MASK]!;
      const factor = scales[row * 2]!;
      const offset = scales[row * 2 + 1]!;
      const shift = place - from;
      if (kind === UNSIGNED) unsigned(records, from, to, right, mask, values, raws, shift, factor, offset);
      else if (kind === SIGNED) signed(records, from, to, left, right, values, raws, shift, factor, offset);
      else if (kind === UNSIGNED_PAIR || kind === SIGNED_PAIR) {
        const other = record + runOf(operations[at + OTHER]!) - from;
        const down = operations[at + DOWN]!;
        if (kind === UNSIGNED_PAIR) {
          unsignedPair(records, from, to, left, other, down, mask, values, raws, shift, factor, offset);
        } else signedPair(records, from, to, left, other, down, right, values, raws, shift, factor, offset);
      } else this.#other(records, record, count, operations, at, values, raws, place, factor, offset);
    }
    records[record + LOW] = records[record + LOW + count]!;
    records[record + HIGH] = records[record + HIGH + count]!;
    records[record + NEXT] = 0;
    return place;
  }

  /** Fills in the words in Motorola order. */
  #swap(records: Int32Array, record: number, count: number): void {
    const { buffer, byteOffset, byteLength } = records;
    if (this.#view.buffer !== buffer) this.#view = new DataView(buffer, byteOffset, byteLength);
    const view = this.#view;
    for (let i = 0; i < count; i = (i + 1) | 0) {
      const place = record + LOW + 1 + i;
      records[record + BIG_LOW + i] = view.getInt32(place << 2, false);
      records[record + BIG_HIGH + i] = view.getInt32((place + RUN) << 2, false);
    }
  }

  /** Wide integers and floats. */
  #other(
    records: Int32Array,
    record: number,
    count: number,
    operations: Int32Array,
    operation: number,
    values: Float64Array,
    raws: Float64Array,
    to: number,
    factor: number,
    offset: number,
  ): void {
    const registers = this.#registers;
    for (let i = 0; i < count; i++) {
      registers[LITTLE] = records[record + LOW + 1 + i]!;
      registers[LITTLE + 1] = records[record + HIGH + 1 + i]!;
      registers[BIG] = records[record + BIG_LOW + i]!;
      registers[BIG + 1] = records[record + BIG_HIGH + i]!;
      const raw = rawOf(registers, operations, operation, this.#halves);
      raws[to + i] = raw;
      values[to + i] = raw * factor + offset;
    }
  }
}

/** Where in a record the words of waiting frames begin, by which word of the first eight bytes it is. */
function runOf(word: number): number {
  return word >= BIG ? BIG_LOW + (word - BIG) * MOST_WAITING : LOW + 1 + word * RUN;
}

/*
 * The four kinds of signal that nearly all are. Words are at `from` to `to`; the value of the word at i goes to
 * i + shift. `factor` and `offset` make it physical.
 */

function unsigned(
  records: Int32Array,
  from: number,
  to: number,
  right: number,
  mask: number,
  values: Float64Array,
  raws: Float64Array,
  shift: number,
  factor: number,
  offset: number,
): void {
  let i = from;
  for (const last = (to - 1) | 0; i < last; i = (i + 2) | 0) {
    const one = (records[i]! >>> right) & mask;
    const two = (records[(i + 1) | 0]! >>> right) & mask;
    const place = (i + shift) | 0;
    values[place] = one * factor + offset;
    values[(place + 1) | 0] = two * factor + offset;
    raws[place] = one;
    raws[(place + 1) | 0] = two;
  }
  if (i < to) {
    const one = (records[i]! >>> right) & mask;
    const place = (i + shift) | 0;
    values[place] = one * factor + offset;
    raws[place] = one;
  }
}

function signed(
  records: Int32Array,
  from: number,
  to: number,
  left: number,
  right: number,
  values: Float64Array,
  raws: Float64Array,
  shift: number,
  factor: number,
  offset: number,
): void {
  let i = from;
  for (const last = (to - 1) | 0; i < last; i = (i + 2) | 0) {
    const one = (records[i]! << left) >> right;
    const two = (records[(i + 1) | 0]! << left) >> right;
    const place = (i + shift) | 0;
    values[place] = one * factor + offset;
    values[(place + 1) | 0] = two * factor + offset;
    raws[place] = one;
    raws[(place + 1) | 0] = two;
  }
  if (i < to) {
    const one = (records[i]! << left) >> right;
    const place = (i + shift) | 0;
    values[place] = one * factor + offset;
    raws[place] = one;
  }
}

function unsignedPair(
  records: Int32Array,
  from: number,
  to: number,
  left: number,
  other: number,
  down: number,
  mask: number,
  values: Float64Array,
  raws: Float64Array,
  shift: number,
  factor: number,
  offset: number,
): void {
  let i = from;
  for (const last = (to - 1) | 0; i < last; i = (i + 2) | 0) {
    const one = ((records[i]! << left) | (records[(i + other) | 0]! >>> down)) & mask;
    const two = ((records[(i + 1) | 0]! << left) | (records[(i + other + 1) | 0]! >>> down)) & mask;
    const place = (i + shift) | 0;
    values[place] = one * factor + offset;
    values[(place + 1) | 0] = two * factor + offset;
    raws[place] = one;
    raws[(place + 1) | 0] = two;
  }
  if (i < to) {
    const one = ((records[i]! << left) | (records[(i + other) | 0]! >>> down)) & mask;
    const place = (i + shift) | 0;
    values[place] = one * factor + offset;
    raws[place] = one;
  }
}

function signedPair(
  records: Int32Array,
  from: number,
  to: number,
  left: number,
  other: number,
  down: number,
  right: number,
  values: Float64Array,
  raws: Float64Array,
  shift: number,
  factor: number,
  offset: number,
): void {
  let i = from;
  for (const last = (to - 1) | 0; i < last; i = (i + 2) | 0) {
    const one = (((records[i]! << left) | (records[(i + other) | 0]! >>> down)) << right) >> right;
    const two = (((records[(i + 1) | 0]! << left) | (records[(i + other + 1) | 0]! >>> down)) << right) >> right;
    const place = (i + shift) | 0;
    values[place] = one * factor + offset;
    values[(place + 1) | 0] = two * factor + offset;
    raws[place] = one;
    raws[(place + 1) | 0] = two;
  }
  if (i < to) {
    const one = (((records[i]! << left) | (records[(i + other) | 0]! >>> down)) << right) >> right;
    const place = (i + shift) | 0;
    values[place] = one * factor + offset;
    raws[place] = one;
  }
}
