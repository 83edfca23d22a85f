/**
 * A CBOR item in two parts: its shape, which is the item with 0 in place of every integer that is not a key of a map,
 * then these integers, zig-zag coded LEB128 (protocol/columns/numbers.ts), in their order. Shapes are similar in
 * most messages, so the compressor finds long matches without numbers in between.
 */
import { NumberReader, NumberWriter } from '../columns/numbers.ts';
import { head, MAJOR, malformed } from './head.ts';
import { ItemWriter } from './item-writer.ts';

/** Shared writers: messages are split one after the other. */
const numbers = new NumberWriter();
const shape = new ItemWriter();

/**
 * Splits an item in deterministic encoding. Returns undefined if it has an integer beyond 2^53. The next call overwrites
 * the result.
 */
export function split(item: Uint8Array): Uint8Array | undefined {
  const walk = new Walk(item);
  numbers.clear();
  shape.clear();
  // All other items are copied in runs.
  let from = 0;
  while (walk.next()) {
    if (!walk.integral) continue;
    if (!Number.isSafeInteger(walk.integer)) return undefined;
    shape.copy(item, from, walk.start);
    shape.head(MAJOR.unsigned, 0);
    numbers.signed(walk.integer);
    from = walk.end;
  }
  shape.copy(item, from, walk.end);
  const { written } = numbers;
  shape.copy(written, 0, written.length);
  return shape.written;
}

/**
 * Returns the item that was passed to {@link split}, with its integers in deterministic encoding.
 * @throws VigieError `message.malformed` for anything else
 */
export function join(parts: Uint8Array): Uint8Array {
  // The numbers start at the end of the shape, which is known after a first traversal.
  const shape = new Walk(parts);
  while (shape.next());
  const numbers = new NumberReader(parts.subarray(shape.end));
  const walk = new Walk(parts);
  const item = new ItemWriter();
  while (walk.next()) {
    const { start, end } = walk;
    if (!walk.integral) item.copy(parts, start, end);
    else if (walk.integer !== 0 || end - start > 1) throw malformed('has an integer in its shape', start);
    else {
      item.integer(numbers.signed());
    }
  }
  if (numbers.left > 0) throw numbers.fault('go on behind their end');
  return item.written;
}

/** In place of a byte after the last one: {@link head} reports that it is missing. */
const END = 31;

/** Traverses the item that starts at the first byte, one head and its string at a time. */
class Walk {
  start = 0;
  end = 0;
  /** True if the current item is an integer that is not a key of a map: {@link integer}. */
  integral = false;
  integer = 0;
  readonly #bytes: Uint8Array;
  /** For each enclosing array and map: number of remaining items, as -1 - items for maps. */
  readonly #levels: number[] = [];
  #begun = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Advances by one. Returns false at the end. @throws VigieError `message.malformed` if this is not an item */
  next(): boolean {
    const levels = this.#levels;
    if (this.#begun && levels.length === 0) return false;
    this.#begun = true;
    const start = this.end;
    const first = this.#bytes[start] ?? END;
    let major = first >> 5;
    let argument = first & 31;
    let next = start + 1;
    // Nearly all heads have one byte.
    if (argument >= 24) ({ major, argument, next } = head(this.#bytes, start));
    const key = this.#isKey();
    this.start = start;
    this.end = next;
    this.integral = major <= MAJOR.negative && !key;
    this.integer = major === MAJOR.negative ? -1 - argument : argument;
    if (major === MAJOR.bytes || major === MAJOR.text) {
      if (argument > this.#bytes.length - next) throw malformed('ends in the middle of a string', start);
      this.end = next + argument;
    } else if (major === MAJOR.array) levels.push(argument);
    else if (major === MAJOR.map) levels.push(-1 - argument * 2);
    while (levels.length > 0 && (levels.at(-1) === 0 || levels.at(-1) === -1)) levels.pop();
    return true;
  }

  /** Counts the item in its array or map. Returns true if it is a key of a map. */
  #isKey(): boolean {
    const levels = this.#levels;
    const last = levels.length - 1;
    if (last < 0) return false;
    const level = levels[last]!;
    levels[last] = level < 0 ? level + 1 : level - 1;
    // A map has as many keys as values, and starts with a key.
    return level < 0 && level % 2 !== 0;
  }
}
