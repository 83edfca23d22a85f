/**
 * A second decoder, written only from docs/wire-format.md: slot numbers and byte order from the page, and deflate from
 * zlib. It uses nothing of our own decoder.
 */
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

const page = readFileSync(new URL('../../../docs/wire-format.md', import.meta.url), 'utf8');

/** Slot ids by number, starting at 1, from the page. */
export const slotNumbers: readonly number[] = [
  Number.NaN,
  ...[...page.matchAll(/^ {4} +\d+ {2}([0-9a-f ]+)$/gm)].flatMap(([, ids]) =>
    ids!.split(' ').map((id) => Number.parseInt(id, 16)),
  ),
];

const shapes: string[] = JSON.parse(
  readFileSync(new URL('../../../protocol/generated/dictionary.json', import.meta.url), 'utf8'),
);
export const dictionary: Buffer = Buffer.concat(shapes.map((shape) => Buffer.from(shape, 'base64')));

class Numbers {
  #at = 0;
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get ended(): boolean {
    return this.#at >= this.bytes.length;
  }

  get rest(): Uint8Array {
    return this.bytes.subarray(this.#at);
  }

  plain(): number {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(this.bytes[this.#at++]!);
      value |= (byte & 127n) << shift;
      if (byte < 128n) return Number(value);
    }
  }

  signed(): number {
    const from = this.#at;
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(this.bytes[this.#at++]!);
      value |= (byte & 127n) << shift;
      if (byte < 128n) break;
    }
    if (this.#at === from) throw new Error('nothing read');
    return Number(value % 2n === 0n ? value / 2n : -(value + 1n) / 2n);
  }

  many(count: number, how: 'plain' | 'signed'): number[] {
    return Array.from({ length: count }, () => this[how]());
  }
}

/** A reading on the wire: slot id, UTC milliseconds, integer. */
export type Raw = readonly [slot: number, at: number, value: number];

export function readingsOf(start: number, size: number, columns: Uint8Array): Raw[] {
  const inflated = inflateRawSync(columns);
  if (inflated.length !== size) throw new Error(`${inflated.length} bytes, not ${size}`);
  const numbers = new Numbers(inflated);
  const readings: Raw[] = [];
  while (!numbers.ended) {
    const [resolution, series, interval, moments] = numbers.many(4, 'plain') as [number, number, number, number];
    const slots: number[] = [];
    let slot = 0;
    for (let s = 0; s < series; s++) {
      const difference = numbers.plain();
      if (difference === 0) slots.push(numbers.plain());
      else {
        slot += difference;
        slots.push(slotNumbers[slot]!);
      }
    }
    const counts = numbers.many(series, 'plain').map((count) => count + 1);
    const steps = numbers.many(series, 'plain');
    const firsts = numbers.many(series, 'signed');
    const lists = moments > 0 ? [moments] : counts;
    const periods = lists.map((count) => (interval > 0 ? numbers.many(count, 'signed') : []));
    const times = lists.map((count, list) => {
      let tick = -interval;
      return numbers.many(count, 'signed').map((deviation, index) => {
        tick += interval > 0 ? (periods[list]![index]! + 1) * interval + deviation : deviation;
        return tick;
      });
    });
    const ticks = counts.map((count, s) => {
      if (moments === 0) return times[s]!;
      let place = -1;
      return numbers.many(count, 'signed').map((forward) => {
        place += forward + 1;
        return times[0]![place]!;
      });
    });
    for (let s = 0; s < series; s++) {
      let value = firsts[s]!;
      for (let i = 0; i < counts[s]!; i++) {
        if (i > 0) value += numbers.signed() * steps[s]!;
        readings.push([slots[s]!, start + ticks[s]![i]! * resolution, value]);
      }
    }
  }
  return readings;
}

/** The points in the columns of a waypoint message: integers by key. */
export function pointsOf(columns: Uint8Array): Map<number, number>[] {
  const numbers = new Numbers(columns);
  const points = Array.from({ length: numbers.plain() }, () => new Map<number, number>());
  for (let members = numbers.plain(); members > 0; members--) {
    const key = numbers.plain();
    const having: Map<number, number>[] = [];
    let told = 0;
    for (let has = true; told < points.length; has = !has) {
      const run = numbers.plain();
      if (has) having.push(...points.slice(told, told + run));
      told += run;
    }
    if (having.length === 0) continue;
    const step = numbers.plain();
    let value = numbers.signed();
    having[0]!.set(key, value);
    for (const point of having.slice(1)) {
      value += numbers.signed() * step;
      point.set(key, value);
    }
  }
  return points;
}

/** The CBOR of a message, whether packed or not. */
export function messageOf(payload: Uint8Array): Uint8Array {
  const [outer, , begin] = headAt(payload, 0);
  if (outer !== 2) return payload;
  const packed = new Numbers(payload.subarray(begin));
  const size = packed.plain();
  const content = inflateRawSync(packed.rest, { dictionary });
  if (content.length !== size || size > 65_536) throw new Error(`${content.length} bytes, not ${size}`);
  const end = itemEnd(content, 0);
  const numbers = new Numbers(content.subarray(end));
  const message: number[] = [];
  copy(0, false);
  if (!numbers.ended) throw new Error('numbers are left');
  return Uint8Array.from(message);

  function copy(at: number, key: boolean): number {
    const [major, argument, next] = headAt(content, at);
    if (major <= 1 && !key) {
      message.push(...integer(numbers.signed()));
      return next;
    }
    const text = major === 2 || major === 3 ? argument : 0;
    message.push(...content.subarray(at, next + text));
    let position = next + text;
    for (let i = 0; i < (major === 4 || major === 5 ? argument : 0); i++) {
      if (major === 5) position = copy(position, true);
      position = copy(position, false);
    }
    return position;
  }
}

function itemEnd(bytes: Uint8Array, at: number): number {
  const [major, argument, next] = headAt(bytes, at);
  if (major === 2 || major === 3) return next + argument;
  let position = next;
  const items = major === 4 ? argument : major === 5 ? argument * 2 : 0;
  for (let i = 0; i < items; i++) position = itemEnd(bytes, position);
  return position;
}

function headAt(bytes: Uint8Array, at: number): [major: number, argument: number, next: number] {
  const information = bytes[at]! & 31;
  const size = information < 24 ? 0 : 2 ** (information - 24);
  let argument = size === 0 ? information : 0;
  for (let i = 1; i <= size; i++) argument = argument * 256 + bytes[at + i]!;
  return [bytes[at]! >> 5, argument, at + 1 + size];
}

function integer(value: number): number[] {
  const major = value < 0 ? 1 : 0;
  const argument = BigInt(value < 0 ? -1 - value : value);
  if (argument < 24n) return [(major << 5) | Number(argument)];
  const sizes = [1, 2, 4, 8];
  const log = sizes.findIndex((size) => argument < 1n << BigInt(8 * size));
  const bytes = Array.from({ length: sizes[log]! }, (_, i) => Number((argument >> BigInt(8 * i)) & 255n)).reverse();
  return [(major << 5) | (24 + log), ...bytes];
}
