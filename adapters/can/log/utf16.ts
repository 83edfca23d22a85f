/** Converts UTF-16 text logs, as saved by Windows programs, to one byte per character. */
import type { ByteInput } from './input.ts';

/** Replacement for characters beyond Latin-1, which no part of a frame contains. */
const OTHER = 0x3f;
/** Number of characters that must alternate with zeros if there is no byte order mark. */
const PROOF = 16;

type ByteOrder = 'little' | 'big';

/** Returns the byte order of UTF-16 text from its mark or the zeros of its first characters; otherwise undefined. */
export function utf16Order(head: Uint8Array): ByteOrder | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'little';
  if (head[0] === 0xfe && head[1] === 0xff) return 'big';
  for (const [order, zero] of [
    ['little', 1],
    ['big', 0],
  ] as const) {
    if (head.length >= 2 * PROOF && alternates(head, zero)) return order;
  }
  return undefined;
}

function alternates(head: Uint8Array, zero: 0 | 1): boolean {
  for (let i = 0; i < 2 * PROOF; i += 2) {
    const character = head[i + 1 - zero] as number;
    const printable = (character >= 32 && character < 127) || (character >= 9 && character <= 13);
    if (head[i + zero] !== 0 || !printable) return false;
  }
  return true;
}

export class Utf16Input implements ByteInput {
  readonly #input: ByteInput;
  readonly #high: 0 | 1;
  /** Bytes that were read but not yet returned. */
  #rest: Uint8Array;

  /** @param begun bytes already read from `input` */
  constructor(input: ByteInput, order: ByteOrder, begun: Uint8Array) {
    this.#input = input;
    this.#high = order === 'little' ? 1 : 0;
    const marked = (begun[0] === 0xff && begun[1] === 0xfe) || (begun[0] === 0xfe && begun[1] === 0xff);
    this.#rest = marked ? begun.subarray(2) : begun;
  }

  get size(): number {
    return this.#input.size;
  }

  get position(): number {
    return this.#input.position;
  }

  get broken(): string | undefined {
    return this.#input.broken;
  }

  async read(into: Uint8Array): Promise<number> {
    while (this.#rest.length < 2) {
      const more = new Uint8Array(this.#rest.length + 2 * into.length);
      more.set(this.#rest);
      const count = await this.#input.read(more.subarray(this.#rest.length));
      if (count === 0) return 0;
      this.#rest = more.subarray(0, this.#rest.length + count);
    }
    const count = Math.min(into.length, this.#rest.length >> 1);
    for (let i = 0; i < count; i++) {
      const high = this.#rest[2 * i + this.#high] as number;
      into[i] = high === 0 ? (this.#rest[2 * i + 1 - this.#high] as number) : OTHER;
    }
    this.#rest = this.#rest.subarray(2 * count);
    return count;
  }

  close(): Promise<void> {
    return this.#input.close();
  }
}
