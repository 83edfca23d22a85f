/**
 * Remainder of a checksum after removing the part that a method computes from the payload. If the method is right, the
 * remainder is the same in all frames: the constant that start value, Data ID and final inversion add up to.
 */
import { crc8H2f, crc8J1850 } from '../dbc/crc8.ts';

export type Method = 'xor' | 'sum' | 'negated-sum' | 'crc8-j1850' | 'crc8-h2f';

/** A method to compute a checksum. */
export interface Algorithm {
  readonly method: Method;
  /** Number of bytes after the payload that enter a CRC, such as those of a Data ID. */
  readonly appended: 0 | 1;
}

/** Possible position of a checksum: a whole byte, or four bits of one. */
export interface Place {
  readonly byte: number;
  /** Lowest bit within the byte: 0, or 4 of an upper nibble. */
  readonly bit: number;
  readonly length: 8 | 4;
}

export function checksumAt(payload: Uint8Array, { byte, bit, length }: Place): number {
  return (payload[byte]! >>> bit) & (2 ** length - 1);
}

/**
 * Sums add up bytes for a checksum of a byte, and nibbles for one of a nibble. A CRC runs over all bytes but its own in
 * their order. It is linear: start value, bytes before or after the payload (the Data ID of AUTOSAR E2E profiles) and
 * inversion together exclusive-or one constant to the CRC of the payload followed by a zero for each appended byte.
 */
export function residual(payload: Uint8Array, place: Place, { method, appended }: Algorithm): number {
  const mask = 2 ** place.length - 1;
  const checksum = checksumAt(payload, place);
  switch (method) {
    case 'xor':
      return exclusiveOr(payload, place.length);
    case 'sum':
      return (checksum - (total(payload, place.length) - checksum)) & mask;
    case 'negated-sum':
      return total(payload, place.length) & mask;
    case 'crc8-j1850':
      return checksum ^ crcOf(payload, place.byte, appended, crc8J1850);
    case 'crc8-h2f':
      return checksum ^ crcOf(payload, place.byte, appended, crc8H2f);
  }
}

const nothing: readonly number[] = [];
const zero: readonly number[] = [0];

/** Returns the CRC over all bytes but one, with the CRC's usual start value and inversion. */
function crcOf(payload: Uint8Array, but: number, appended: 0 | 1, crc: typeof crc8J1850): number {
  const before = crc(payload.subarray(0, but), 0xff, 0);
  return crc(appended === 0 ? nothing : zero, crc(payload.subarray(but + 1), before, 0));
}

function exclusiveOr(payload: Uint8Array, length: 8 | 4): number {
  let all = 0;
  for (const byte of payload) all ^= byte;
  return length === 8 ? all : (all >>> 4) ^ (all & 15);
}

function total(payload: Uint8Array, length: 8 | 4): number {
  let sum = 0;
  for (const byte of payload) sum += length === 8 ? byte : (byte >>> 4) + (byte & 15);
  return sum;
}
