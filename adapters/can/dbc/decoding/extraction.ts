/**
 * Shift and mask tables that extract signals from a payload in 32-bit steps. The payload is in a register file of
 * words: its bytes as little-endian words from LITTLE on, and as big-endian words from BIG on. In the words of its own
 * byte order, every signal is one run of bits (see layout.ts), so both byte orders are read the same way.
 */
import type { BitField, Signal } from '../database.ts';
import { runStart } from '../layout.ts';
import {
  BIG,
  DOUBLE,
  FLOAT,
  HALF,
  LITTLE,
  OP_DOWN,
  OP_KIND,
  OP_LEFT,
  OP_MASK,
  OP_OTHER_WORD,
  OP_RIGHT,
  OP_WORD,
  SIGNED,
  SIGNED_PAIR,
  UNSIGNED,
  UNSIGNED_PAIR,
  WIDE,
} from './operation.ts';

/** Loads a payload into the registers, followed by zeros. For code that need not be fast. */
export function load(registers: Int32Array, data: Uint8Array, offset: number, length: number): void {
  registers.fill(0);
  const bytes = Math.min(length, 64);
  for (let i = 0; i < bytes; i++) {
    const byte = data[offset + i]!;
    registers[LITTLE + (i >>> 2)]! |= byte << ((i & 3) << 3);
    registers[BIG + (i >>> 2)]! |= byte << ((3 - (i & 3)) << 3);
  }
}

/**
 * Like {@link load}, for a payload that is padded to a multiple of 8 bytes. Later registers keep their content, because
 * signals inside the payload have no bits there.
 */
export function loadPadded(registers: Int32Array, view: DataView, offset: number, length: number): void {
  const bytes = Math.min(length, 64);
  for (let byte = 0; byte < bytes; byte += 4) {
    registers[LITTLE + (byte >>> 2)] = view.getInt32(offset + byte, true);
    registers[BIG + (byte >>> 2)] = view.getInt32(offset + byte, false);
  }
}

/** Returns the row of a table of operations for a signal within the first 64 bytes. */
export function operation(signal: BitField & { readonly type: Signal['type'] }): number[] {
  const first = runStart(signal);
  const { length, byteOrder, type } = signal;
  const shift = first & 31;
  const word = (byteOrder === 'little' ? LITTLE : BIG) + (first >>> 5);
  const upwards = byteOrder === 'little' ? 1 : 0;
  if (type === 'float') {
    const kind = length === 16 ? HALF : length === 32 ? FLOAT : DOUBLE;
    return [kind, word, 0, shift, length, 0, upwards, 0];
  }
  const signed = type === 'signed';
  if (length > 32 || (length === 32 && !signed)) return [WIDE, word, 0, shift, length, signed ? 1 : 0, upwards, 0];
  const spare = 32 - length;
  const mask = signed ? 0 : 2 ** length - 1;
  if (shift + length <= 32) {
    const above = byteOrder === 'little' ? spare - shift : shift;
    return signed ? [SIGNED, word, 0, above, spare, 0, 0, 0] : [UNSIGNED, word, 0, 0, spare - above, mask, 0, 0];
  }
  const kind = signed ? SIGNED_PAIR : UNSIGNED_PAIR;
  // The word with the most significant bits is the later one for Intel, and the earlier one for Motorola.
  if (byteOrder === 'little') return [kind, word + 1, word, 32 - shift, spare, mask, shift, 0];
  return [kind, word, word + 1, shift - spare, spare, mask, 32 - shift + spare, 0];
}

/** The 64 bits of a wide signal, valid until the next call. */
export class Halves {
  /** Upper bits, sign extended for signed signals. */
  high = 0;
  /** Lower 32 bits, as a signed integer. */
  low = 0;
  readonly #words = new Int32Array(2);
  readonly #float = new Float32Array(this.#words.buffer);
  readonly #double = new Float64Array(this.#words.buffer);

  /** Reads the bits of a signal of kind WIDE or of a float. */
  read(registers: Int32Array, table: Int32Array, row: number): void {
    const word = table[row + OP_WORD]!;
    const shift = table[row + OP_LEFT]!;
    const length = table[row + OP_RIGHT]!;
    const spare = 64 - length;
    if (table[row + OP_DOWN] === 1) {
      this.low = bitsUp(registers, word, shift);
      if (length < 32) this.low &= 2 ** length - 1;
      if (length <= 32) this.high = 0;
      else this.high = bitsUp(registers, word + 1, shift) << spare;
    } else if (length <= 32) {
      this.low = bitsDown(registers, word, shift) >>> (32 - length);
      this.high = 0;
    } else {
      const last = shift + length - 32;
      this.low = bitsDown(registers, word + (last >>> 5), last & 31);
      this.high = (bitsDown(registers, word, shift) >>> spare) << spare;
    }
    if (length > 32) this.high = table[row + OP_MASK] === 1 ? this.high >> spare : this.high >>> spare;
  }

  /** Returns the bits as a number. Integers beyond 2^53 are rounded to the nearest double. */
  number(kind: number): number {
    if (kind === WIDE) return this.high * 0x1_0000_0000 + (this.low >>> 0);
    if (kind === HALF) return half(this.low);
    this.#words[0] = this.low;
    this.#words[1] = this.high;
    return kind === FLOAT ? this.#float[0]! : this.#double[0]!;
  }

  /** Returns the exact integer of a WIDE signal. */
  integer(): bigint {
    return (BigInt(this.high) << 32n) | BigInt(this.low >>> 0);
  }
}

/** Returns 32 bits upwards from a bit of a little-endian word. */
function bitsUp(registers: Int32Array, word: number, shift: number): number {
  const low = registers[word]!;
  return shift === 0 ? low : (low >>> shift) | (registers[word + 1]! << (32 - shift));
}

/** Returns 32 bits downwards from a bit of a big-endian word, the most significant first. */
function bitsDown(registers: Int32Array, word: number, shift: number): number {
  const high = registers[word]!;
  return shift === 0 ? high : (high << shift) | (registers[word + 1]! >>> (32 - shift));
}

/** Decodes IEEE 754 binary16. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

/** Returns the raw number of a signal. Integers beyond 2^53 are rounded. */
export function rawOf(registers: Int32Array, table: Int32Array, row: number, halves: Halves): number {
  const kind = table[row + OP_KIND]!;
  if (kind >= WIDE) {
    halves.read(registers, table, row);
    return halves.number(kind);
  }
  const word = registers[table[row + OP_WORD]!]!;
  const right = table[row + OP_RIGHT]!;
  const mask = table[row + OP_MASK]!;
  const high = word << table[row + OP_LEFT]!;
  if (kind === UNSIGNED) return (word >>> right) & mask;
  if (kind === SIGNED) return high >> right;
  const joined = high | (registers[table[row + OP_OTHER_WORD]!]! >>> table[row + OP_DOWN]!);
  return kind === UNSIGNED_PAIR ? joined & mask : (joined << right) >> right;
}
