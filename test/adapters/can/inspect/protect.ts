/** Naive implementation of counters and checksums, independent of the code under test. */
import type { BitField } from '../../../../adapters/can/dbc/index.ts';

/** Fields lie within one byte; `start` is their lowest bit. */
interface Plain extends BitField {
  readonly method: 'sum' | 'xor';
  /** Unit of the sum; default: bytes. */
  readonly unit?: 'byte' | 'nibble';
  readonly initial?: number;
  /** If true, the checksum is `initial` minus the sum. */
  readonly negate?: boolean;
  readonly counter?: BitField;
}

/**
 * E2E_P01DataIDMode: the CRC covers both bytes of the Data ID, the bytes alternately, the low byte, or the low byte
 * while the payload holds the high nibble.
 */
export type DataIdMode = 'both' | 'alternating' | 'low' | 'nibble';

export type Sent =
  | Plain
  | { readonly method: 'e2e-profile-1'; readonly dataId: number; readonly mode?: DataIdMode }
  | { readonly method: 'e2e-profile-2'; readonly dataIds: readonly number[] };

/** 8-bit CRC, bit by bit, highest bit first. */
export function crc8(polynomial: number, bytes: readonly number[], start: number, invert: number): number {
  let crc = start;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      const one = ((crc >> 7) ^ (byte >> bit)) & 1;
      crc = ((crc << 1) & 0xff) ^ (one === 1 ? polynomial : 0);
    }
  }
  return crc ^ invert;
}

/** Writes counter and checksum into the payload of frame number `i`. */
export function send(data: Uint8Array, sent: Sent, i = 0): void {
  if (sent.method === 'e2e-profile-1') {
    const { dataId, mode = 'both' } = sent;
    const counter = i % 15;
    const [low, high] = [dataId & 0xff, dataId >> 8];
    put(data, 8, 4, counter);
    if (mode === 'nibble') put(data, 12, 4, high);
    const ids = { both: [low, high], alternating: [counter % 2 === 0 ? low : high], low: [low], nibble: [low, 0] };
    data[0] = crc8(0x1d, [...ids[mode], ...data.subarray(1)], 0, 0);
  } else if (sent.method === 'e2e-profile-2') {
    put(data, 8, 4, i % 16);
    data[0] = crc8(0x2f, [...data.subarray(1), sent.dataIds[i % 16]!], 0xff, 0xff);
  } else {
    const { method, unit = 'byte', initial = 0, negate = false, counter, start, length } = sent;
    if (counter !== undefined) put(data, counter.start, counter.length, i % 2 ** counter.length);
    put(data, start, length, 0);
    const units = [...data].flatMap((byte) => (unit === 'byte' ? [byte] : [byte >> 4, byte & 15]));
    const sum = units.reduce((all, one) => all + one, 0);
    const xor = units.reduce((all, one) => all ^ one, initial);
    put(data, start, length, method === 'xor' ? xor : negate ? initial - sum : initial + sum);
  }
}

function put(data: Uint8Array, start: number, length: number, value: number): void {
  const mask = (2 ** length - 1) << (start & 7);
  data[start >> 3] = (data[start >> 3]! & ~mask) | ((value << (start & 7)) & mask);
}
