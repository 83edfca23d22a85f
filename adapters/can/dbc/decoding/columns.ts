/**
 * Decodes the waiting frames of a slot together, signal by signal: the constants of a signal are loaded once for all
 * frames, and the loops over the frames do not branch on its kind. That takes two thirds of the time of decoding frame
 * by frame.
 *
 * Each loop is a separate function so that it needs few registers, and processes two frames per iteration because half
 * of the cost of an iteration is the loop itself. Sums of integers end in `| 0`, which avoids a test for overflow.
 */
import type { DecodeTables } from './decode-tables.ts';
import { Halves, rawOf } from './extraction.ts';
import {
  BIG,
  LITTLE,
  OP_DOWN,
  OP_KIND,
  OP_LEFT,
  OP_MASK,
  OP_OTHER_WORD,
  OP_RIGHT,
  OP_SIZE,
  OP_WORD,
  REGISTERS,
  SIGNED,
  SIGNED_PAIR,
  UNSIGNED,
  UNSIGNED_PAIR,
} from './operation.ts';
import {
  GROUP_BEGIN,
  GROUP_LIST,
  GROUP_SHIFT,
  GROUP_SIZE,
  GROUP_STEP,
  MAX_WAITING,
  MEMBER_MASK,
  type Readings,
} from './readings.ts';
import {
  RUN_SIZE,
  SLOT_BIG_HIGH,
  SLOT_BIG_LOW,
  SLOT_FIRST_ROW,
  SLOT_HAS_BIG,
  SLOT_HIGH,
  SLOT_LIST,
  SLOT_LOW,
  SLOT_NEXT_PLACE,
  SLOT_ROW_COUNT,
} from './slot-record.ts';

export class ColumnDecoder {
  readonly #registers = new Int32Array(REGISTERS);
  readonly #halves = new Halves();
  #view = new DataView<ArrayBufferLike>(new ArrayBuffer(0));

  /**
   * Decodes all waiting frames of one slot as one group. `record`: start of the slot's record. Writes to `readings`
   * from `begin` on. The slot then has no waiting frames. Returns the end of the written values.
   */
  decode(records: Int32Array, record: number, tables: DecodeTables, readings: Readings, begin: number): number {
    const latest = records[record + SLOT_NEXT_PLACE]! - 1;
    const count = (latest & MEMBER_MASK) + 1;
    const group = (latest >>> GROUP_SHIFT) * GROUP_SIZE;
    const first = records[record + SLOT_FIRST_ROW]!;
    const rows = records[record + SLOT_ROW_COUNT]!;
    readings.reserve(begin + rows * count);
    const { groups } = readings;
    groups[group + GROUP_LIST] = records[record + SLOT_LIST]!;
    groups[group + GROUP_BEGIN] = begin;
    groups[group + GROUP_STEP] = count;
    if (records[record + SLOT_HAS_BIG] !== 0) this.#swap(records, record, count);
    const { operations, scales } = tables;
    const { values, raws } = readings;
    let target = begin;
    for (let row = first; row < first + rows; row++, target += count) {
      const at = row * OP_SIZE;
      const kind = operations[at + OP_KIND]!;
      const from = record + runOf(operations[at + OP_WORD]!);
      const to = from + count;
      const left = operations[at + OP_LEFT]!;
      const right = operations[at + OP_RIGHT]!;
      const mask = operations[at + OP_MASK]!;
      const factor = scales[row * 2]!;
      const offset = scales[row * 2 + 1]!;
      const shift = target - from;
      if (kind === UNSIGNED) unsigned(records, from, to, right, mask, values, raws, shift, factor, offset);
      else if (kind === SIGNED) signed(records, from, to, left, right, values, raws, shift, factor, offset);
      else if (kind === UNSIGNED_PAIR || kind === SIGNED_PAIR) {
        const other = record + runOf(operations[at + OP_OTHER_WORD]!) - from;
        const down = operations[at + OP_DOWN]!;
        if (kind === UNSIGNED_PAIR) {
          unsignedPair(records, from, to, left, other, down, mask, values, raws, shift, factor, offset);
        } else signedPair(records, from, to, left, other, down, right, values, raws, shift, factor, offset);
      } else this.#other(records, record, count, operations, at, values, raws, target, factor, offset);
    }
    records[record + SLOT_LOW] = records[record + SLOT_LOW + count]!;
    records[record + SLOT_HIGH] = records[record + SLOT_HIGH + count]!;
    records[record + SLOT_NEXT_PLACE] = 0;
    return target;
  }

  /** Fills the words in Motorola order. */
  #swap(records: Int32Array, record: number, count: number): void {
    const { buffer, byteOffset, byteLength } = records;
    if (this.#view.buffer !== buffer) this.#view = new DataView(buffer, byteOffset, byteLength);
    const view = this.#view;
    for (let i = 0; i < count; i = (i + 1) | 0) {
      const low = record + SLOT_LOW + 1 + i;
      records[record + SLOT_BIG_LOW + i] = view.getInt32(low << 2, false);
      records[record + SLOT_BIG_HIGH + i] = view.getInt32((low + RUN_SIZE) << 2, false);
    }
  }

  /** Decodes wide integers and floats. */
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
      registers[LITTLE] = records[record + SLOT_LOW + 1 + i]!;
      registers[LITTLE + 1] = records[record + SLOT_HIGH + 1 + i]!;
      registers[BIG] = records[record + SLOT_BIG_LOW + i]!;
      registers[BIG + 1] = records[record + SLOT_BIG_HIGH + i]!;
      const raw = rawOf(registers, operations, operation, this.#halves);
      raws[to + i] = raw;
      values[to + i] = raw * factor + offset;
    }
  }
}

/** Returns the start of the waiting frames' words in a record, for this word of the first eight bytes. */
function runOf(word: number): number {
  return word >= BIG ? SLOT_BIG_LOW + (word - BIG) * MAX_WAITING : SLOT_LOW + 1 + word * RUN_SIZE;
}

/*
 * Loops for the four most frequent kinds of signal. The words are at `from` to `to`. The value of the word at i is
 * written to i + shift. `factor` and `offset` convert it to a physical value.
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
    const target = (i + shift) | 0;
    values[target] = one * factor + offset;
    values[(target + 1) | 0] = two * factor + offset;
    raws[target] = one;
    raws[(target + 1) | 0] = two;
  }
  if (i < to) {
    const one = (records[i]! >>> right) & mask;
    const target = (i + shift) | 0;
    values[target] = one * factor + offset;
    raws[target] = one;
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
    const target = (i + shift) | 0;
    values[target] = one * factor + offset;
    values[(target + 1) | 0] = two * factor + offset;
    raws[target] = one;
    raws[(target + 1) | 0] = two;
  }
  if (i < to) {
    const one = (records[i]! << left) >> right;
    const target = (i + shift) | 0;
    values[target] = one * factor + offset;
    raws[target] = one;
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
    const target = (i + shift) | 0;
    values[target] = one * factor + offset;
    values[(target + 1) | 0] = two * factor + offset;
    raws[target] = one;
    raws[(target + 1) | 0] = two;
  }
  if (i < to) {
    const one = ((records[i]! << left) | (records[(i + other) | 0]! >>> down)) & mask;
    const target = (i + shift) | 0;
    values[target] = one * factor + offset;
    raws[target] = one;
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
    const target = (i + shift) | 0;
    values[target] = one * factor + offset;
    values[(target + 1) | 0] = two * factor + offset;
    raws[target] = one;
    raws[(target + 1) | 0] = two;
  }
  if (i < to) {
    const one = (((records[i]! << left) | (records[(i + other) | 0]! >>> down)) << right) >> right;
    const target = (i + shift) | 0;
    values[target] = one * factor + offset;
    raws[target] = one;
  }
}
