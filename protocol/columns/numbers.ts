/**
 * Numbers in columns: LEB128, seven bits per byte, least significant first, the top bit set on all but the last byte.
 * Signed numbers are zig-zag coded first: 0, -1, 1, -2, … become 0, 1, 2, 3, …
 */
import { VigieError } from '../errors.ts';

/** Bound on integers in a column, ±2^51, so that intermediate results of two of them are exact in a double. */
export const REACH: number = 2 ** 51;
/** Signed numbers below this bound use the fast path: nearly all do. */
const SHORT = 2 ** 30;

export class NumberWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;

  clear(): void {
    this.#length = 0;
  }

  /** @param value integer, 0 to 2^53 - 1. */
  unsigned(value: number): void {
    const bytes = this.#room();
    let length = this.#length;
    let rest = value;
    // Bit shifts work only on 32-bit numbers.
    for (; rest > 0xffff_ffff; rest = Math.floor(rest / 0x80)) bytes[length++] = (rest % 0x80) + 0x80;
    for (; rest >= 0x80; rest >>>= 7) bytes[length++] = (rest & 0x7f) | 0x80;
    bytes[length++] = rest;
    this.#length = length;
  }

  /** @param value integer within ±(2^53 - 2), which includes every difference of two numbers within REACH */
  signed(value: number): void {
    if (value >= -SHORT && value < SHORT) {
      this.unsigned(value < 0 ? -2 * value - 1 : 2 * value);
      return;
    }
    const negative = value < 0 ? 1 : 0;
    const magnitude = negative === 1 ? -value - 1 : value;
    // Doubling would exceed the exact integers; split off the lowest seven bits of the doubled number first.
    const high = Math.floor(magnitude / 0x40);
    this.#room()[this.#length++] = (magnitude - high * 0x40) * 2 + negative + 0x80;
    this.unsigned(high);
  }

  /** Writes the values in sequence, each as {@link signed}. */
  signedAll(values: readonly number[]): void {
    for (let i = 0; i < values.length; i++) this.signed(values[i]!);
  }

  /** Writes bytes unchanged. */
  raw(bytes: Uint8Array): void {
    while (this.#length + bytes.length > this.#bytes.length) this.#grow();
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Written bytes, valid until the next write. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Returns the buffer, with capacity for one more number. */
  #room(): Uint8Array {
    if (this.#length + 16 > this.#bytes.length) this.#grow();
    return this.#bytes;
  }

  #grow(): void {
    const larger = new Uint8Array(this.#bytes.length * 2);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** Reads the output of {@link NumberWriter}. All faults are `message.malformed`. */
export class NumberReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Number of unread bytes: the upper bound of the remaining numbers. */
  get left(): number {
    return this.#bytes.length - this.#position;
  }

  unsigned(): number {
    // Nearly all numbers have one byte.
    const first = this.#bytes[this.#position];
    if (first !== undefined && first < 0x80) {
      this.#position++;
      return first;
    }
    let value = 0;
    for (let scale = 1; scale <= 2 ** 49; scale *= 0x80) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (Number.isSafeInteger(value)) return value;
        break;
      }
    }
    throw this.fault('have a number beyond 2^53');
  }

  signed(): number {
    const first = this.#byte();
    if (first < 0x80) return (first & 1) === 1 ? -(first >> 1) - 1 : first >> 1;
    const magnitude = ((first & 0x7f) >> 1) + this.unsigned() * 0x40;
    if (magnitude >= Number.MAX_SAFE_INTEGER) throw this.fault('have a number beyond 2^53');
    return (first & 1) === 1 ? -magnitude - 1 : magnitude;
  }

  /** Returns the next `count` bytes unchanged. */
  raw(count: number): Uint8Array {
    if (count > this.left) throw this.fault('end in the middle');
    this.#position += count;
    return this.#bytes.subarray(this.#position - count, this.#position);
  }

  /** Returns the error for columns with impossible content. */
  fault(what: string): VigieError {
    return new VigieError('message.malformed', `columns ${what} at byte ${this.#position}`);
  }

  #byte(): number {
    const byte = this.#bytes[this.#position];
    if (byte === undefined) throw this.fault('end in the middle');
    this.#position++;
    return byte;
  }
}
