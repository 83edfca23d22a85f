/** Writes data items in sequence, in the deterministic encoding of RFC 8949 section 4.2.1. */
import { shortestFloat } from './float.ts';
import { MAJOR } from './head.ts';

const FALSE = 0xf4;
const TRUE = 0xf5;
const utf8 = new TextEncoder();
/** Maximum length of a text that is copied by character, which works only for ASCII; nearly all texts are ASCII. */
const SHORT_TEXT = 24;

export class ItemWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;

  /** Written bytes, in memory that the next item overwrites. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** Writes the shortest head for an argument up to 2^53. */
  head(major: number, argument: number): void {
    this.#reserve(9);
    const first = major << 5;
    if (argument < 24) {
      this.#bytes[this.#length++] = first | argument;
      return;
    }
    const power = argument <= 0xff ? 0 : argument <= 0xffff ? 1 : argument <= 0xffff_ffff ? 2 : 3;
    this.#bytes[this.#length] = first | (24 + power);
    const size = 1 << power;
    let rest = argument;
    for (let i = this.#length + size; i > this.#length; i--) {
      this.#bytes[i] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    this.#length += 1 + size;
  }

  /** Writes a safe integer. */
  integer(value: number): void {
    if (value < 0) this.head(MAJOR.negative, -1 - value);
    else this.head(MAJOR.unsigned, value);
  }

  /** Writes a float in the shortest exact form. */
  float(value: number): void {
    const content = shortestFloat(value);
    this.#reserve(1);
    this.#bytes[this.#length++] = (MAJOR.simple << 5) | (24 + Math.log2(content.length));
    this.copy(content, 0, content.length);
  }

  flag(value: boolean): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value ? TRUE : FALSE;
  }

  bytes(value: Uint8Array): void {
    this.head(MAJOR.bytes, value.length);
    this.copy(value, 0, value.length);
  }

  text(value: string): void {
    const { length } = value;
    const begin = this.#length;
    this.head(MAJOR.text, length);
    this.#reserve(length);
    let ascii = length <= SHORT_TEXT;
    for (let i = 0; ascii && i < length; i++) {
      const code = value.charCodeAt(i);
      this.#bytes[this.#length + i] = code;
      ascii = code < 0x80;
    }
    if (ascii) {
      this.#length += length;
      return;
    }
    this.#length = begin;
    const encoded = utf8.encode(value);
    this.head(MAJOR.text, encoded.length);
    this.copy(encoded, 0, encoded.length);
  }

  /** Copies bytes that already are items, or parts of items. */
  copy(bytes: Uint8Array, from: number, to: number): void {
    this.#reserve(to - from);
    const gap = this.#length - from;
    for (let i = from; i < to; i++) this.#bytes[i + gap] = bytes[i]!;
    this.#length += to - from;
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + size));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
