/**
 * Reads a data item from its bytes, or from shape and numbers (shape.ts), without building a tree. Accepts only the
 * output of encoders of this protocol and throws {@link UNUSUAL} for other input, so accepted input is well-formed.
 */
import { NumberReader } from '../columns/numbers.ts';
import { VigieError } from '../errors.ts';
import { head, MAJOR } from './head.ts';

/** Thrown for input that this reader rejects; the reader that builds a tree then reads it, or names its fault. */
export const UNUSUAL: VigieError = new VigieError('message.malformed', 'the message is not in the usual form');

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Maximum length of a text to decode here. The platform's decoder is faster for longer ones, but slower to call. */
const SHORT_TEXT = 32;

export class ItemCursor {
  readonly #bytes: Uint8Array;
  /** The integers that the shape replaces by 0; undefined for a complete item. */
  #numbers: NumberReader | undefined;
  readonly #part: Uint8Array | undefined;
  #position = 0;

  /** @param parts true for the output of `split`, false for an item */
  constructor(bytes: Uint8Array, parts: boolean) {
    this.#bytes = bytes;
    this.#part = parts ? bytes.subarray(endOfItem(bytes)) : undefined;
    this.rewind();
  }

  /** Returns to the start. */
  rewind(): void {
    this.#position = 0;
    this.#numbers = this.#part === undefined ? undefined : new NumberReader(this.#part);
  }

  /** Reads an integer that is a value. */
  integer(): number {
    const first = this.#bytes[this.#position]!;
    if (this.#numbers !== undefined) {
      if (first !== 0) throw UNUSUAL;
      this.#position++;
      return this.#numbers.signed();
    }
    if (first < 24) {
      this.#position++;
      return first;
    }
    const { major, argument } = this.#head();
    if (major > MAJOR.negative || !Number.isSafeInteger(argument)) throw UNUSUAL;
    return major === MAJOR.negative ? -1 - argument : argument;
  }

  /** Reads the key of a map entry: 0 to 255. */
  key(): number {
    const first = this.#bytes[this.#position++]!;
    if (first < 24) return first;
    if (first !== 24) throw UNUSUAL;
    return this.#bytes[this.#position++] ?? Number.NaN;
  }

  /** Reads the head of an array. Returns its number of entries. */
  array(): number {
    return this.#count(MAJOR.array);
  }

  /** Reads the head of a map. Returns its number of entries. */
  map(): number {
    return this.#count(MAJOR.map);
  }

  flag(): boolean {
    const first = this.#bytes[this.#position++]!;
    if (first !== 0xf4 && first !== 0xf5) throw UNUSUAL;
    return first === 0xf5;
  }

  float(): number {
    const start = this.#position;
    const size = this.#head().major === MAJOR.simple ? this.#position - start - 1 : 0;
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start + 1);
    if (size === 8) return view.getFloat64(0);
    if (size === 4) return view.getFloat32(0);
    if (size === 2) return half(view.getUint16(0));
    throw UNUSUAL;
  }

  /** Reads a byte string. Returns a view of it. */
  bytes(): Uint8Array {
    return this.#string(MAJOR.bytes);
  }

  text(): string {
    const bytes = this.#string(MAJOR.text);
    if (bytes.length > SHORT_TEXT) return decoded(bytes);
    let text = '';
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (byte >= 0x80) return decoded(bytes);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** Checks that no input remains. */
  end(): void {
    const end = this.#numbers === undefined ? this.#position === this.#bytes.length : this.#numbers.left === 0;
    if (!end) throw UNUSUAL;
  }

  #count(wanted: number): number {
    const first = this.#bytes[this.#position]!;
    if (first >> 5 === wanted && (first & 31) < 24) {
      this.#position++;
      return first & 31;
    }
    const { major, argument } = this.#head();
    if (major !== wanted || argument > this.#bytes.length) throw UNUSUAL;
    return argument;
  }

  #string(wanted: number): Uint8Array {
    const { major, argument } = this.#head();
    const from = this.#position;
    if (major !== wanted || argument > this.#bytes.length - from) throw UNUSUAL;
    this.#position = from + argument;
    return this.#bytes.subarray(from, this.#position);
  }

  #head(): { readonly major: number; readonly argument: number } {
    const found = head(this.#bytes, this.#position);
    this.#position = found.next;
    return found;
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch (cause) {
    if (cause instanceof TypeError) throw UNUSUAL;
    throw cause;
  }
}

/** Returns the value of a binary16 (IEEE 754). */
function half(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits >= 0x8000 ? -size : size;
}

/** Returns the end of the item that starts at the first byte. */
export function endOfItem(bytes: Uint8Array): number {
  let position = 0;
  for (let items = 1; items > 0; items--) {
    const first = bytes[position]!;
    let major = first >> 5;
    let argument = first & 31;
    position++;
    // Nearly all heads have one byte.
    if (argument >= 24) ({ major, argument, next: position } = head(bytes, position - 1));
    if (major === MAJOR.bytes || major === MAJOR.text) position += argument;
    else if (major === MAJOR.array) items += argument;
    else if (major === MAJOR.map) items += 2 * argument;
    if (position > bytes.length) throw UNUSUAL;
  }
  return position;
}
