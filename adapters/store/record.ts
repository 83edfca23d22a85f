/**
 * Layout of the records in a segment file, which follow one another:
 *
 *      0        1..3            4..7               8..
 *     | 0xA5 | length | CRC-32C of 1..3, 8.. | payload |      integers little-endian
 *
 * The payload is one CBOR array that starts with its type (record-types.ts), so the payloads in order are a CBOR
 * sequence (RFC 8742). The CRC continues the CRC of the segment's number: segment files are reused once they have no
 * live records, and their previous contents must not count as records of the new segment.
 */
import { crc32c } from './crc32c.ts';

export const headLength = 8;
/** Maximum size of a payload in bytes. */
export const maximumPayload = 0xff_ffff;

const marker = 0xa5;

/** Computes the CRC over the length and payload of the record at `at`. */
function check(bytes: Uint8Array, at: number, length: number, seed: number): number {
  return crc32c(bytes, at + headLength, at + headLength + length, crc32c(bytes, at + 1, at + 4, seed));
}

/** Writes the head for a payload of `length` bytes that is already at `at` + 8. Returns the CRC. */
export function writeHead(bytes: Uint8Array, at: number, length: number, seed: number): number {
  bytes[at] = marker;
  bytes[at + 1] = length & 0xff;
  bytes[at + 2] = (length >>> 8) & 0xff;
  bytes[at + 3] = length >>> 16;
  const crc = check(bytes, at, length, seed);
  bytes[at + 4] = crc & 0xff;
  bytes[at + 5] = (crc >>> 8) & 0xff;
  bytes[at + 6] = (crc >>> 16) & 0xff;
  bytes[at + 7] = crc >>> 24;
  return crc;
}

/** Returns the payload length stated in the head at `at`, or -1 if the head does not fit before `end`. */
export function lengthAt(bytes: Uint8Array, at: number, end: number): number {
  if (at + headLength > end || bytes[at] !== marker) return -1;
  const length = bytes[at + 1]! | (bytes[at + 2]! << 8) | (bytes[at + 3]! << 16);
  return at + headLength + length > end ? -1 : length;
}

/** Returns the payload length of the record at `at`, or -1 if there is no whole record. */
export function recordAt(bytes: Uint8Array, at: number, end: number, seed: number): number {
  const length = lengthAt(bytes, at, end);
  return length >= 0 && crcAt(bytes, at) === check(bytes, at, length, seed) ? length : -1;
}

/** Returns the CRC stated in the head at `at`. */
export function crcAt(bytes: Uint8Array, at: number): number {
  return (bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24)) >>> 0;
}

/** Returns the start of the next whole record after damage, or -1. Its array head rules out most random bytes. */
export function nextRecord(bytes: Uint8Array, at: number, seed: number): number {
  for (let next = bytes.indexOf(marker, at + 1); next >= 0; next = bytes.indexOf(marker, next + 1)) {
    const array = bytes[next + headLength];
    if (array === undefined) return -1;
    if (array >= firstArray && array <= lastArray && recordAt(bytes, next, bytes.length, seed) >= 0) return next;
  }
  return -1;
}

/** Heads of CBOR arrays, from an array of 1 item to one with a length of four bytes (RFC 8949 §3.1). */
const firstArray = 0x81;
const lastArray = 0x9a;
