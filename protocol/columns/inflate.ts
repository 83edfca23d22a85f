/**
 * Raw deflate (RFC 1951) read within bounds: not a byte more than was announced is made room for or worked out,
 * whatever the stream says. With a preset dictionary, the stream may refer back to it as if it had gone before.
 */
import { VigieError } from '../errors.ts';

/** Longest code, bits. */
const LONGEST = 15;
/** No three bits, the shortest match, give more than 258 bytes. */
const RATIO = 1032;
/** Order in which the lengths of the code length code come (section 3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/** Lengths and distances of section 3.2.5: smallest value and extra bits of each code. */
const lengths = rangesOf([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5], 3);
const distances = rangesOf(
  [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13],
  1,
);
// The last length has a code of its own, without extra bits.
lengths.push({ least: 258, extra: 0 });

function rangesOf(extras: readonly number[], first: number): { least: number; extra: number }[] {
  let least = first;
  return extras.map((extra) => {
    const range = { least, extra };
    least += 2 ** extra;
    return range;
  });
}

/** A canonical Huffman code: how many codes there are of each length, and the symbols in the order of their codes. */
interface Code {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

const fixed = {
  literals: codeOf([...Array(144).fill(8), ...Array(112).fill(9), ...Array(24).fill(7), ...Array(8).fill(8)])!,
  distances: codeOf(Array(30).fill(5), true)!,
};

/** Undefined when the lengths make no prefix code. Only a code of one symbol or none may be incomplete. */
function codeOf(lengthsOfSymbols: readonly number[], incomplete = false): Code | undefined {
  const counts = new Uint16Array(LONGEST + 1);
  for (const length of lengthsOfSymbols) counts[length]!++;
  const used = lengthsOfSymbols.length - counts[0]!;
  counts[0] = 0;
  const starts = new Uint16Array(LONGEST + 2);
  let open = 1;
  for (let length = 1; length <= LONGEST; length++) {
    open = open * 2 - counts[length]!;
    if (open < 0) return undefined;
    starts[length + 1] = starts[length]! + counts[length]!;
  }
  if (open > 0 && used > 1 && !incomplete) return undefined;
  const symbols = new Uint16Array(used);
  for (const [symbol, length] of lengthsOfSymbols.entries()) if (length > 0) symbols[starts[length]!++] = symbol;
  return { counts, symbols };
}

/**
 * The `size` bytes that were compressed with `dictionary` before them. Throws `message.malformed` for what is not
 * deflate, gives another number of bytes, or goes on behind its end.
 */
export function inflate(compressed: Uint8Array, size: number, dictionary: Uint8Array): Uint8Array {
  if (size > compressed.length * RATIO) throw fault(`cannot give ${size} bytes from ${compressed.length}`);
  const inflation = new Inflation(compressed, new Uint8Array(size), dictionary);
  inflation.run();
  return inflation.output;
}

function fault(what: string): VigieError {
  return new VigieError('message.malformed', `deflate ${what}`);
}

class Inflation {
  readonly output: Uint8Array;
  readonly #input: Uint8Array;
  readonly #dictionary: Uint8Array;
  /** Bits read. */
  #read = 0;
  /** Bytes of the output. */
  #written = 0;

  constructor(input: Uint8Array, output: Uint8Array, dictionary: Uint8Array) {
    this.#input = input;
    this.output = output;
    this.#dictionary = dictionary;
  }

  run(): void {
    for (let last = false; !last; ) {
      last = this.#bits(1) === 1;
      const type = this.#bits(2);
      if (type === 0) this.#stored();
      else if (type === 1) this.#block(fixed.literals, fixed.distances);
      else if (type === 2) this.#dynamic();
      else throw fault('has a block of type 3');
    }
    if (this.#written !== this.output.length) {
      throw fault(`gives ${this.#written} bytes, not ${this.output.length}`);
    }
    if (this.#input.length * 8 - this.#read >= 8) throw fault('goes on behind its end');
  }

  #bits(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) value |= this.#bit() << i;
    return value;
  }

  #bit(): number {
    const byte = this.#input[this.#read >> 3];
    if (byte === undefined) throw fault('ends in the middle');
    return (byte >> (this.#read++ & 7)) & 1;
  }

  #symbol({ counts, symbols }: Code): number {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length <= LONGEST; length++) {
      code |= this.#bit();
      const count = counts[length]!;
      if (code - first < count) return symbols[index + code - first]!;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw fault('has a code that stands for nothing');
  }

  #put(byte: number): void {
    if (this.#written === this.output.length) throw fault(`gives more than ${this.output.length} bytes`);
    this.output[this.#written++] = byte;
  }

  #stored(): void {
    this.#read = (this.#read + 7) & ~7;
    const length = this.#bits(16);
    if (this.#bits(16) !== (length ^ 0xffff)) throw fault('has a stored block whose length is not confirmed');
    for (let i = 0; i < length; i++) this.#put(this.#bits(8));
  }

  #dynamic(): void {
    const literals = this.#bits(5) + 257;
    const all = literals + this.#bits(5) + 1;
    const given = this.#bits(4) + 4;
    const ofLengths: number[] = Array(19).fill(0);
    for (let i = 0; i < given; i++) ofLengths[ORDER[i]!] = this.#bits(3);
    const code = codeOf(ofLengths);
    if (code === undefined) throw fault('has lengths that make no code');
    const found: number[] = [];
    while (found.length < all) {
      const symbol = this.#symbol(code);
      if (symbol < 16) {
        found.push(symbol);
        continue;
      }
      const previous = found.at(-1);
      if (symbol === 16 && previous === undefined) throw fault('repeats a length before the first');
      const repeat = symbol === 16 ? 3 + this.#bits(2) : symbol === 17 ? 3 + this.#bits(3) : 11 + this.#bits(7);
      for (let i = 0; i < repeat; i++) found.push(symbol === 16 ? previous! : 0);
    }
    const ofLiterals = codeOf(found.slice(0, literals));
    const ofDistances = codeOf(found.slice(literals));
    if (found.length > all || ofLiterals === undefined || ofDistances === undefined) {
      throw fault('has lengths that make no code');
    }
    this.#block(ofLiterals, ofDistances);
  }

  #block(ofLiterals: Code, ofDistances: Code): void {
    for (;;) {
      const symbol = this.#symbol(ofLiterals);
      if (symbol === 256) return;
      if (symbol < 256) this.#put(symbol);
      else this.#copy(this.#ranged(lengths[symbol - 257]), this.#ranged(distances[this.#symbol(ofDistances)]));
    }
  }

  #ranged(range: { least: number; extra: number } | undefined): number {
    if (range === undefined) throw fault('has a length or distance that does not exist');
    return range.least + this.#bits(range.extra);
  }

  #copy(length: number, distance: number): void {
    const from = this.#written - distance;
    if (from < -this.#dictionary.length) throw fault('refers back before the beginning');
    for (let i = from; i < from + length; i++) {
      this.#put(i < 0 ? this.#dictionary[this.#dictionary.length + i]! : this.output[i]!);
    }
  }
}
