/** Mutates inputs as corrupted files and lines are changed, and as an attacker of a parser would change them. */
import type { Random } from './random.ts';

/** Parts from which inputs are made. */
export interface Material {
  readonly seeds: readonly Uint8Array[];
  readonly words: readonly Uint8Array[];
}

/** Length in bytes of the longest input. Some are extended to {@link LARGE}, which shows costs that grow too fast. */
const LONGEST = 16 * 1024;
const LARGE = 256 * 1024;

const bytes = [0x00, 0x01, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x30, 0x39, 0x41, 0x5c, 0x7b, 0x7f, 0x80, 0xc3, 0xfe, 0xff];
const numbers = [
  '0',
  '-1',
  '1',
  '7',
  '8',
  '9',
  '15',
  '16',
  '63',
  '64',
  '65',
  '127',
  '128',
  '255',
  '256',
  '0x1F',
  '2047',
  '2048',
  '4095',
  '65535',
  '65536',
  '2147483647',
  '2147483648',
  '4294967295',
  '4294967296',
  '9007199254740993',
  '99999999999999999999',
  '1e308',
  '1e999',
  '-0',
  '0.1',
  '.5',
  '5.',
  '00',
  'NaN',
  'Infinity',
  '',
].map((text) => Buffer.from(text));

type Change = (input: Uint8Array, random: Random, material: Material) => Uint8Array;

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  // Not a Buffer, because its slices are not copies.
  return new Uint8Array(Buffer.concat(parts));
}

function repeated(input: Uint8Array, times: number): Uint8Array {
  const all = new Uint8Array(input.length * times);
  for (let i = 0; i < times; i++) all.set(input, i * input.length);
  return all;
}

/** Draws a range of the input, long or short. */
function piece(input: Uint8Array, random: Random): readonly [from: number, to: number] {
  const from = random.below(input.length + 1);
  const most = random.once(4) ? input.length : 16;
  return [from, Math.min(input.length, from + random.below(most + 1))];
}

/** Finds digits after a drawn position. Returns the range of these digits, which is empty if no digits follow. */
function number(input: Uint8Array, random: Random): readonly [from: number, to: number] {
  const digit = (at: number) => (input[at] ?? 0) >= 0x30 && (input[at] ?? 0) <= 0x39;
  let from = random.below(input.length + 1);
  while (from < input.length && !digit(from)) from++;
  let to = from;
  while (to < input.length && digit(to)) to++;
  return [from, to];
}

/** Returns the range of the line at a position, including its line end. */
function line(input: Uint8Array, random: Random): readonly [from: number, to: number] {
  const place = random.below(input.length + 1);
  const end = (at: number) => input[at] === 0x0a || input[at] === 0x0d;
  let from = place;
  while (from > 0 && !end(from - 1)) from--;
  let to = place;
  while (to < input.length && !end(to)) to++;
  return [from, Math.min(input.length, to + 1)];
}

function replaced(input: Uint8Array, [from, to]: readonly [number, number], by: Uint8Array): Uint8Array {
  return joined(input.subarray(0, from), by, input.subarray(to));
}

function noise(random: Random): Uint8Array {
  return Uint8Array.from({ length: 1 + random.below(8) }, () => random.below(256));
}

const changes: readonly Change[] = [
  // Change a bit, a byte, some bytes.
  (input, random) => {
    const copy = input.slice();
    const at = random.below(copy.length);
    if (copy.length > 0) copy[at] = (copy[at] as number) ^ (1 << random.below(8));
    return copy;
  },
  (input, random) => {
    const copy = input.slice();
    if (copy.length > 0) copy[random.below(copy.length)] = random.of(bytes);
    return copy;
  },
  (input, random) => {
    const at = random.below(input.length + 1);
    return replaced(input, [at, Math.min(input.length, at + random.below(9))], noise(random));
  },
  // Remove, duplicate, move pieces.
  (input, random) => replaced(input, piece(input, random), new Uint8Array(0)),
  (input, random) => {
    const [from, to] = piece(input, random);
    const times = 1 + random.below(random.once(4) ? 64 : 3);
    return replaced(input, [to, to], repeated(input.subarray(from, to), times));
  },
  (input, random) => {
    const [from, to] = piece(input, random);
    const at = random.below(input.length + 1);
    return replaced(input, [at, at], input.subarray(from, to));
  },
  (input, random) => input.slice(0, random.below(input.length + 1)),
  // Remove, duplicate, move lines.
  (input, random) => replaced(input, line(input, random), new Uint8Array(0)),
  (input, random) => {
    const [from, to] = line(input, random);
    const [at] = line(input, random);
    return replaced(input, [at, at], input.subarray(from, to));
  },
  // Insert words, replace numbers.
  (input, random, { words }) => (words.length === 0 ? input : replaced(input, piece(input, random), random.of(words))),
  (input, random, { words }) => {
    const at = random.below(input.length + 1);
    return words.length === 0 ? input : replaced(input, [at, at], random.of(words));
  },
  (input, random) => replaced(input, number(input, random), random.of(numbers)),
  (input, random) => replaced(input, number(input, random), random.of(numbers)),
  // Combine with another seed: append its end, or insert a piece of it.
  (input, random, { seeds }) => {
    const other = random.of(seeds);
    return joined(input.subarray(0, random.below(input.length + 1)), other.subarray(random.below(other.length + 1)));
  },
  (input, random, { seeds }) => {
    const other = random.of(seeds);
    const [from, to] = piece(other, random);
    return replaced(input, piece(input, random), other.subarray(from, to));
  },
];

/** Returns a seed with some changes, which the state of `random` determines. */
export function mutated(material: Material, random: Random): Uint8Array {
  let input = random.of(material.seeds);
  const most = random.once(8) ? 24 : 4;
  for (let left = 1 + random.below(most); left > 0; left--) {
    input = random.of(changes)(input, random, material);
    if (input.length > LONGEST) input = input.slice(0, LONGEST);
  }
  if (random.once(512) && input.length > 0) {
    const [from, to] = piece(input, random);
    const unit = from === to ? input : input.subarray(from, to);
    const times = Math.floor((LARGE - input.length) / unit.length);
    input = replaced(input, [to, to], repeated(unit, times));
  }
  return input;
}
