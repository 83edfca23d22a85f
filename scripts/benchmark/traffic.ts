/** Generates the measured traffic: the same bytes on every machine and in every run. */
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import type { Database, DbcMessage } from '../../adapters/can/dbc/index.ts';
import { bitsOf } from '../../adapters/can/dbc/layout.ts';
import { EXTENDED } from '../../agent/ports.ts';

/**
 * `new`: every payload is random, so no frame equals the previous one of its identifier: the worst case.
 * `drive`: the fraction {@link REPEATS} repeats the previous payload; in the others one value is incremented.
 */
export type FrameKind = 'new' | 'drive';

/** Fraction of frames that repeat the last payload of their identifier, counted in a real car's log (12,974 frames). */
export const REPEATS = 0.38;

/** Classic frames as columns. Each payload occupies 8 bytes. */
export interface BusTraffic {
  readonly count: number;
  /** Times in UTC ms. */
  readonly at: Float64Array;
  readonly id: Uint32Array;
  readonly length: Uint8Array;
  readonly data: Uint8Array;
}

/** 2026-01-01T00:00:00Z. */
const start = 1_767_225_600_000;

/** Returns a generator of numbers below 2^32 that uses xorshift (Marsaglia 2003). */
export function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Returns the messages that fit in classic frames and have signals. */
export function carried(database: Database): DbcMessage[] {
  return database.messages.filter(({ onBus, length, signals }) => onBus && length <= 8 && signals.length > 0);
}

/** Returns frames with a network's messages in random order, 2,000 per second. */
export function makeTraffic(database: Database, count: number, kind: FrameKind): BusTraffic {
  const next = chance(0x1d872b41);
  const messages = carried(database);
  const payloads = messages.map(() => new Uint8Array(8));
  // Quantities of a car that change often need many bits; switches change rarely.
  const moving = messages.map(({ signals }) => {
    const wide = signals.filter((signal) => signal.length >= 8 && !signal.multiplexor && signal.type !== 'float');
    return (wide.length > 0 ? wide : signals).map(bitsOf);
  });
  const at = new Float64Array(count);
  const id = new Uint32Array(count);
  const length = new Uint8Array(count);
  const data = new Uint8Array(count * 8);
  for (let i = 0; i < count; i++) {
    const which = next() % messages.length;
    const message = messages[which] as DbcMessage;
    const payload = payloads[which] as Uint8Array;
    if (kind === 'new') {
      // The first byte always changes, because a payload of one random byte would often equal the previous one.
      payload[0] = (payload[0] as number) + 1 + (next() % 255);
      for (let byte = 1; byte < message.length; byte++) payload[byte] = next() >>> 11;
    } else if (next() >= REPEATS * 2 ** 32) {
      const signals = moving[which] as number[][];
      countUp(payload, signals[next() % signals.length] as number[], message.length);
    }
    // Rounded to microseconds as by candump, so that the text represents exactly this time.
    at[i] = start + i / 2 + (next() % 400) / 1000;
    id[i] = message.id;
    length[i] = message.length;
    data.set(payload, i * 8);
  }
  return { count, at, id, length, data };
}

/** Adds 1 to the value in these bits, least significant first. */
function countUp(payload: Uint8Array, bits: readonly number[], length: number): void {
  for (const bit of bits) {
    const byte = bit >>> 3;
    if (byte >= length) return;
    const before = payload[byte] as number;
    payload[byte] = before ^ (1 << (bit & 7));
    if ((before & (1 << (bit & 7))) === 0) return;
  }
}

/** Writes the columns one after the other in their memory layout: count (8 bytes), at, data, id, length. */
export function writeTraffic(traffic: BusTraffic, file: string): void {
  const { at, data, id, length } = traffic;
  const descriptor = openSync(file, 'w');
  writeSync(descriptor, new Float64Array([traffic.count]));
  for (const column of [at, data, id, length]) writeSync(descriptor, column);
  closeSync(descriptor);
}

/** Returns the traffic in a file that {@link writeTraffic} has written. */
export function trafficOf(bytes: Uint8Array): BusTraffic {
  const { buffer, byteOffset } = bytes.slice();
  const count = new Float64Array(buffer, byteOffset, 1)[0] as number;
  let from = byteOffset + 8;
  const at = new Float64Array(buffer, from, count);
  from += count * 8;
  const data = new Uint8Array(buffer, from, count * 8);
  from += count * 8;
  const id = new Uint32Array(buffer, from, count);
  from += count * 4;
  return { count, at, data, id, length: new Uint8Array(buffer, from, count) };
}

/** Writes the traffic in the format of `candump -L`. */
export function writeCandump(traffic: BusTraffic, file: string, bus: string): void {
  const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, '0'));
  const parts: string[] = [];
  for (let i = 0; i < traffic.count; i++) {
    const id = traffic.id[i] as number;
    const micros = Math.round((traffic.at[i] as number) * 1000);
    const seconds = Math.floor(micros / 1e6);
    const name = id >= EXTENDED ? (id - EXTENDED).toString(16).padStart(8, '0') : id.toString(16).padStart(3, '0');
    let line = `(${seconds}.${String(micros - seconds * 1e6).padStart(6, '0')}) ${bus} ${name.toUpperCase()}#`;
    for (let byte = 0; byte < (traffic.length[i] as number); byte++) line += hex[traffic.data[i * 8 + byte] as number];
    parts.push(line);
  }
  parts.push('');
  writeFileSync(file, parts.join('\n'));
}
