/**
 * A CBOR item in two parts: its shape, which is the item with 0 in place of every integer that is not a key of a map,
 * and after it these integers, zig-zag coded LEB128 (protocol/columns/numbers.ts), in the order of their places. Shapes
 * are much alike from message to message, so that what compresses them is not interrupted by numbers.
 */
import { NumberReader, NumberWriter } from '../columns/numbers.ts';
import { head, MAJOR, malformed } from './head.ts';

/** A head and the string that belongs to it. */
interface Piece {
  readonly start: number;
  readonly end: number;
  /** The integer in this place; undefined for everything else. */
  readonly integer: number | undefined;
}

/** Splits an item in deterministic encoding; undefined when it has an integer beyond 2^53. */
export function split(item: Uint8Array): Uint8Array | undefined {
  const pieces = piecesOf(item);
  const numbers = new NumberWriter();
  const shape = new Bytes();
  for (const { start, end, integer } of pieces) {
    if (integer === undefined) shape.add(item.subarray(start, end));
    else if (!Number.isSafeInteger(integer)) return undefined;
    else {
      shape.head(MAJOR.unsigned, 0);
      numbers.signed(integer);
    }
  }
  shape.add(numbers.written);
  return shape.written;
}

/**
 * The item that {@link split} was given, in deterministic encoding as far as its integers go.
 * @throws VigieError `message.malformed` for anything else
 */
export function join(parts: Uint8Array): Uint8Array {
  const pieces = piecesOf(parts);
  const shapeEnd = pieces.at(-1)?.end ?? 0;
  const numbers = new NumberReader(parts.subarray(shapeEnd));
  const item = new Bytes();
  for (const { start, end, integer } of pieces) {
    if (integer === undefined) item.add(parts.subarray(start, end));
    else if (integer !== 0 || end - start > 1) throw malformed('has an integer in its shape', start);
    else {
      const number = numbers.signed();
      if (number < 0) item.head(MAJOR.negative, -1 - number);
      else item.head(MAJOR.unsigned, number);
    }
  }
  if (numbers.left > 0) throw numbers.fault('go on behind their end');
  return item.written;
}

/** The pieces of the one item that begins at the first byte. */
function piecesOf(bytes: Uint8Array): Piece[] {
  const pieces: Piece[] = [];
  const levels: { remaining: number; readonly map: boolean }[] = [];
  let position = 0;
  do {
    const start = position;
    const level = levels.at(-1);
    const key = level?.map === true && level.remaining % 2 === 0;
    if (level !== undefined) level.remaining--;
    const { major, argument, next } = head(bytes, start);
    position = next;
    let integer: number | undefined;
    if (major === MAJOR.bytes || major === MAJOR.text) {
      if (argument > bytes.length - next) throw malformed('ends in the middle of a string', start);
      position += argument;
    } else if (major === MAJOR.array) levels.push({ remaining: argument, map: false });
    else if (major === MAJOR.map) levels.push({ remaining: argument * 2, map: true });
    else if (major <= MAJOR.negative && !key) integer = major === MAJOR.negative ? -1 - argument : argument;
    pieces.push({ start, end: position, integer });
    while (levels.at(-1)?.remaining === 0) levels.pop();
  } while (levels.length > 0);
  return pieces;
}

/** Bytes that are put one after the other. */
class Bytes {
  #bytes = new Uint8Array(1024);
  #length = 0;

  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  add(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** The shortest head (RFC 8949 section 4.2.1). */
  head(major: number, argument: number): void {
    const size = argument < 24 ? 0 : argument <= 0xff ? 1 : argument <= 0xffff ? 2 : argument <= 0xffff_ffff ? 4 : 8;
    this.#reserve(1 + size);
    this.#bytes[this.#length] = (major << 5) | (size === 0 ? argument : 24 + Math.log2(size));
    let rest = argument;
    for (let i = this.#length + size; i > this.#length; i--) {
      this.#bytes[i] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    this.#length += 1 + size;
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + size));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
