/**
 * Records gathered for one write. Their CBOR (RFC 8949) is written in place, which saves a buffer and a copy for each
 * record: a third of the time of an append.
 */
import { VigieError } from '../../protocol/errors.ts';
import { headLength, maximumPayload, writeHead } from './record.ts';

/** What a record may hold. */
export type Item = number | string | boolean | Uint8Array | readonly Item[];

const initial = 128 << 10;
/** Bytes of the longest CBOR head or float. */
const longestHead = 9;

const unsigned = 0 << 5;
const byteString = 2 << 5;
const textString = 3 << 5;
const array = 4 << 5;
const cborFalse = 0xf4;
const cborTrue = 0xf5;
const float64 = 0xfb;

export class RecordBatch {
  #bytes = new Uint8Array(initial);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Bytes gathered. */
  get length(): number {
    return this.#length;
  }

  /** The records gathered, one after the other; valid until the batch changes. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** Adds a record and returns its size, head included. Throws `message.unbounded` when it is longer than a record may be. */
  add(record: readonly Item[]): number {
    const at = this.#length;
    this.#reserve(headLength);
    this.#length += headLength;
    this.#item(record);
    const size = this.#length - at;
    if (size - headLength > maximumPayload) {
      this.#length = at;
      throw new VigieError('message.unbounded', `a record of ${size} bytes; ${maximumPayload} is the most`);
    }
    writeHead(this.#bytes, at, size - headLength);
    return size;
  }

  #item(item: Item): void {
    this.#reserve(longestHead);
    if (typeof item === 'number') this.#number(item);
    else if (typeof item === 'string') this.#text(item);
    else if (typeof item === 'boolean') this.#bytes[this.#length++] = item ? cborTrue : cborFalse;
    else if (item instanceof Uint8Array) this.#put(byteString, item);
    else {
      this.#head(array, item.length);
      for (let i = 0; i < item.length; i++) this.#item(item[i]!);
    }
  }

  #number(value: number): void {
    // Up to 32 bits: longer integers would be read back as BigInt.
    if (value >>> 0 === value && !Object.is(value, -0)) {
      this.#head(unsigned, value);
      return;
    }
    this.#bytes[this.#length] = float64;
    this.#view.setFloat64(this.#length + 1, value);
    this.#length += 9;
  }

  #text(text: string): void {
    // ASCII, as kinds are, needs no encoder.
    for (let i = 0; i < text.length; i++) {
      if (text.charCodeAt(i) >= 0x80) {
        this.#put(textString, new TextEncoder().encode(text));
        return;
      }
    }
    this.#reserve(longestHead + text.length);
    this.#head(textString, text.length);
    for (let i = 0; i < text.length; i++) this.#bytes[this.#length++] = text.charCodeAt(i);
  }

  #put(major: number, data: Uint8Array): void {
    this.#reserve(longestHead + data.length);
    this.#head(major, data.length);
    this.#bytes.set(data, this.#length);
    this.#length += data.length;
  }

  #head(major: number, argument: number): void {
    const bytes = this.#bytes;
    if (argument < 24) {
      bytes[this.#length++] = major | argument;
    } else if (argument < 0x100) {
      bytes[this.#length++] = major | 24;
      bytes[this.#length++] = argument;
    } else if (argument < 0x1_0000) {
      bytes[this.#length] = major | 25;
      this.#view.setUint16(this.#length + 1, argument);
      this.#length += 3;
    } else {
      bytes[this.#length] = major | 26;
      this.#view.setUint32(this.#length + 1, argument);
      this.#length += 5;
    }
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const longer = new Uint8Array(2 * (this.#length + more));
    longer.set(this.bytes);
    this.#bytes = longer;
    this.#view = new DataView(longer.buffer);
  }
}
