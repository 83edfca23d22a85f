/**
 * Reads CBOR (RFC 8949) in place, item by item. Allocates nothing for skipped items, because each start searches 64 MiB
 * of records in a fraction of a second. Never throws, whatever the bytes are: if an item has another type than the one
 * requested, it is undefined, and all later items are meaningless.
 */

const decoder = new TextDecoder('utf-8');

export class RecordCursor {
  #bytes: Uint8Array = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  #end = 0;

  /** Starts reading `bytes[from..to)`. */
  reset(bytes: Uint8Array, from = 0, to: number = bytes.length): this {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    this.#at = from;
    this.#end = to;
    return this;
  }

  /** True if all items have been read. */
  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** Returns the number of items in the array at the cursor and moves the cursor to the first of them. */
  array(): number | undefined {
    return this.#head(4);
  }

  /** Reads an integer that is not negative and that a double represents exactly, in any encoding. */
  count(): number | undefined {
    const head = this.#bytes[this.#at];
    if (head === undefined || this.#at >= this.#end) return undefined;
    const value = head >>> 5 === 0 ? this.#head(0) : this.number();
    return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  }

  /** Reads an integer of either sign, or a 64-bit float. */
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

  /** Reads a byte string and returns it as a view of the source. */
  bytes(): Uint8Array | undefined {
    return this.#string(2);
  }

  /** Reads the UTF-8 of a text string and returns it as a view of the source. */
  utf8(): Uint8Array | undefined {
    return this.#string(3);
  }

  text(): string | undefined {
    const utf8 = this.#string(3);
    return utf8 === undefined ? undefined : decodeText(utf8);
  }

  /** Skips a null or undefined at the cursor. Returns false if another item is there. */
  nothing(): boolean {
    const head = this.#at < this.#end ? this.#bytes[this.#at] : undefined;
    if (head !== 0xf6 && head !== 0xf7) return false;
    this.#at++;
    return true;
  }

  /** True if a text string is at the cursor. */
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

  /** Reads the head of an item of this major type and returns its argument. */
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

/** Decodes UTF-8; invalid bytes become U+FFFD. Short ASCII strings, such as kinds, need no decoder. */
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
