/**
 * Bytes of variable length in blocks of their own (##SD), which records refer to by an offset: a length of 32 bits,
 * then the bytes (ASAM MDF 4.1 §5.14). Records refer to them in their order, as a rule; only a part is kept.
 */
import type { DataStream } from './stream.ts';

/** Bytes that are kept behind the place that was read last. */
const KEPT = 64 * 1024;
/** Times that the blocks are read from their beginning again, for records that refer to bytes in another order. */
const MOST_RETURNS = 100;

export class SignalData {
  readonly #open: () => DataStream;
  #stream: DataStream;
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  /** The offset of the first of {@link bytes}, and how many of them there are. */
  #start = 0;
  #filled = 0;
  #ended = false;
  #returns = 0;

  constructor(open: () => DataStream) {
    this.#open = open;
    this.#stream = open();
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Why the data end early. */
  get cut(): string | undefined {
    return this.#stream.cut;
  }

  /** Where in {@link bytes} what lies at an offset begins, behind its length; -1 when it is not there (yet). */
  find(offset: number): number {
    const at = offset - this.#start;
    if (at < 0 || at + 4 > this.#filled) return -1;
    return at + 4 + this.#view.getUint32(at, true) <= this.#filled ? at + 4 : -1;
  }

  /** The length of what {@link find} found. */
  lengthAt(found: number): number {
    return this.#view.getUint32(found - 4, true);
  }

  /** Reads on until {@link find} finds what lies at an offset; false when it never will. */
  async load(offset: number): Promise<boolean> {
    if (!Number.isSafeInteger(offset)) return false;
    if (offset < this.#start) {
      if (++this.#returns > MOST_RETURNS) return false;
      this.#stream = this.#open();
      this.#start = 0;
      this.#filled = 0;
      this.#ended = false;
    }
    while (this.find(offset) < 0) {
      const at = offset - this.#start;
      // Something longer is not a payload of a frame.
      if (at + 4 <= this.#filled && this.#view.getUint32(at, true) > KEPT) return false;
      if (this.#ended) return false;
      const bytes = await this.#stream.next();
      if (bytes === undefined) this.#ended = true;
      else this.#append(bytes, offset);
    }
    return true;
  }

  #append(bytes: Uint8Array, offset: number): void {
    // Data long before the offset are not needed again.
    const passed = Math.min(this.#filled, Math.max(0, offset - KEPT - this.#start));
    if (passed > 0) {
      this.#bytes.copyWithin(0, passed, this.#filled);
      this.#start += passed;
      this.#filled -= passed;
    }
    if (this.#filled + bytes.length > this.#bytes.length) {
      const larger = new Uint8Array(this.#filled + bytes.length);
      larger.set(this.#bytes.subarray(0, this.#filled));
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    this.#bytes.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }
}
