/**
 * Bytes of variable length in separate blocks (##SD), which records refer to by an offset: a length of 32 bits,
 * then the bytes (ASAM MDF 4.1 §5.14). Records usually refer to them in order, so only a part is kept in memory.
 */
import type { DataStream } from './stream.ts';

/** Number of bytes kept before the last offset that was read. */
const KEPT = 64 * 1024;
/** Maximum number of restarts from the first block, for records that do not refer to bytes in order. */
const MOST_RETURNS = 100;

export class SignalData {
  readonly #open: () => DataStream;
  #stream: DataStream;
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  /** Offset of the first byte of {@link bytes}, and their number. */
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

  /** Reason why the data end early, or undefined. */
  get cut(): string | undefined {
    return this.#stream.cut;
  }

  /** Returns the position in {@link bytes} of the data at an offset, after their length; -1 if not loaded (yet). */
  find(offset: number): number {
    const at = offset - this.#start;
    if (at < 0 || at + 4 > this.#filled) return -1;
    return at + 4 + this.#view.getUint32(at, true) <= this.#filled ? at + 4 : -1;
  }

  /** Returns the length of the data that {@link find} found. */
  lengthAt(found: number): number {
    return this.#view.getUint32(found - 4, true);
  }

  /** Reads until {@link find} finds the data at an offset. Returns false if they do not exist. */
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
      // Longer data are not a payload of a frame.
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
