/**
 * Reads CBOR (RFC 8949) in place, item by item, with nothing allocated for what is not asked for: 64 MiB of records
 * are looked through in a fraction of a second at every start. Whatever the bytes are, nothing throws: what is not
 * there as asked is undefined, and what is read after that means nothing.
 */

const decoder = new TextDecoder('utf-8');

export class RecordCursor {
  #bytes: Uint8Array = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  #end = 0;

  /** Begins to read `bytes[from..to)`. */
  reset(bytes: Uint8Array, from = 0, to: number = bytes.length): this {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    this.#at = from;
    this.#end = to;
    return this;
  }

  /** All has been read. */
  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** Number of items of the array that starts here; its items follow. */
  array(): number | undefined {
    return this.#head(4);
  }

  /** An integer from 0 that a double holds exactly, whichever way it is written. */
  count(): number | undefined {
    const head = this.#bytes[this.#at];
    if (head === undefined || this.#at >= this.#end) return undefined;
    const value = head >>> 5 === 0 ? this.#head(0) : this.number();
    return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  }

  /** An unsigned integer, a negative one, or a float of 64 bits. */
  number(): number | undefined {
    if (this.#at >= this.#end) return undefined;
    const head = this.#bytes[this.#at]!;
    if (head === 0xfb) {
      if (this.#at + 9 > this.#end) return undefined;
      const value = this.#view.getFloat64(this.#at + 1);
      this.#at += 9;
      return value;
    }
    if (head >>> 5 === 1) {
      const value = this.#head(1);
      return value === undefined ? undefined : -1 - value;
    }
    return this.#head(0);
  }

  boolean(): boolean | undefined {
    const head = this.#at < this.#end ? this.#bytes[this.#at] : undefined;
    if (head !== 0xf4 && head !== 0xf5) return undefined;
    this.#at++;
    return head === 0xf5;
  }

  /** A byte string, as a view of what is read. */
  bytes(): Uint8Array | undefined {
    return this.#string(2);
  }

  /** The UTF-8 of a text string, as a view of what is read. */
  utf8(): Uint8Array | undefined {
    return this.#string(3);
  }

  text(): string | undefined {
    const utf8 = this.#string(3);
    return utf8 === undefined ? undefined : decodeText(utf8);
  }

  /** True, and stepped over, when null or undefined stands here. */
  nothing(): boolean {
    const head = this.#at < this.#end ? this.#bytes[this.#at] : undefined;
    if (head !== 0xf6 && head !== 0xf7) return false;
    this.#at++;
    return true;
  }

  /** True when a text string stands here. */
  get atText(): boolean {
    return this.#at < this.#end && this.#bytes[this.#at]! >>> 5 === 3;
  }

  #string(major: number): Uint8Array | undefined {
    const length = this.#head(major);
    if (length === undefined || this.#at + length > this.#end) return undefined;
    const from = this.#at;
    this.#at += length;
    return this.#bytes.subarray(from, this.#at);
  }

  /** The argument of an item of that major type. */
  #head(major: number): number | undefined {
    const at = this.#at;
    if (at >= this.#end) return undefined;
    const head = this.#bytes[at]!;
    if (head >>> 5 !== major) return undefined;
    const short = head & 31;
    if (short < 24) {
      this.#at = at + 1;
      return short;
    }
    const length = 1 << (short - 24);
    if (short > 27 || at + 1 + length > this.#end) return undefined;
    this.#at = at + 1 + length;
    if (short === 24) return this.#bytes[at + 1]!;
    if (short === 25) return this.#view.getUint16(at + 1);
    if (short === 26) return this.#view.getUint32(at + 1);
    return this.#view.getUint32(at + 1) * 2 ** 32 + this.#view.getUint32(at + 5);
  }
}

/** Text of UTF-8; bytes that are none become U+FFFD. Short ASCII, as kinds are, needs no decoder. */
function decodeText(utf8: Uint8Array): string {
  if (utf8.length > 24) return decoder.decode(utf8);
  let text = '';
  for (let i = 0; i < utf8.length; i++) {
    const byte = utf8[i]!;
    if (byte >= 0x80) return decoder.decode(utf8);
    text += String.fromCharCode(byte);
  }
  return text;
}
