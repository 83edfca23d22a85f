/**
 * How records lie in a segment file. A segment starts with 8 bytes, `VIGIEJ` 0 1 (the last is the version); then
 * records without gaps:
 *
 *      0        1..3            4..7               8..
 *     | 0xA5 | length | CRC-32C of 1..3, 8.. | payload |      integers little-endian
 *
 * The payload is one CBOR item, so the payloads in order are a CBOR sequence (RFC 8742). The file was made
 * longer than its records: zeros up to its end are the end of the segment, not damage.
 */
import { crc32c } from './crc32c.ts';

export const segmentMark: Uint8Array = Uint8Array.of(0x56, 0x49, 0x47, 0x49, 0x45, 0x4a, 0, 1);
export const headLength = 8;
/** Longest payload in bytes. */
export const maximumPayload = 0xff_ffff;

const marker = 0xa5;

/** CRC over the length and the payload of the record at `at`. */
function check(bytes: Uint8Array, at: number, length: number): number {
  return crc32c(bytes, at + headLength, at + headLength + length, crc32c(bytes, at + 1, at + 4));
}

/** Writes the head before a payload of `length` bytes that is in place already at `at` + 8. */
export function writeHead(bytes: Uint8Array, at: number, length: number): void {
  bytes[at] = marker;
  bytes[at + 1] = length & 0xff;
  bytes[at + 2] = (length >>> 8) & 0xff;
  bytes[at + 3] = length >>> 16;
  const crc = check(bytes, at, length);
  bytes[at + 4] = crc & 0xff;
  bytes[at + 5] = (crc >>> 8) & 0xff;
  bytes[at + 6] = (crc >>> 16) & 0xff;
  bytes[at + 7] = crc >>> 24;
}

/** Payload length of a whole record at `at`, or -1. */
function recordAt(bytes: Uint8Array, at: number): number {
  if (at + headLength > bytes.length || bytes[at] !== marker) return -1;
  const length = bytes[at + 1]! | (bytes[at + 2]! << 8) | (bytes[at + 3]! << 16);
  if (at + headLength + length > bytes.length) return -1;
  const crc = bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24);
  return crc >>> 0 === check(bytes, at, length) ? length : -1;
}

function startsWithMark(bytes: Uint8Array): boolean {
  return segmentMark.every((byte, i) => bytes[i] === byte);
}

function allZero(bytes: Uint8Array, from: number): boolean {
  for (let i = from; i < bytes.length; i++) if (bytes[i] !== 0) return false;
  return true;
}

export interface Scan {
  /** Whole records seen. */
  readonly records: number;
  /** Damaged stretches between whole records: each is at least one record lost. */
  readonly damaged: number;
  /** The segment ends in something that is neither a record nor zeros. */
  readonly torn: boolean;
  /** Where the last whole record ends. */
  readonly end: number;
}

/** Calls `visit` for each whole record of a segment, whatever lies between them. Never throws for bad bytes. */
export function scanSegment(bytes: Uint8Array, visit: (payload: Uint8Array) => void): Scan {
  let records = 0;
  let damaged = 0;
  let at = 0;
  let end = 0;
  if (startsWithMark(bytes)) {
    at = segmentMark.length;
    end = at;
  }
  for (;;) {
    const length = recordAt(bytes, at);
    if (length >= 0) {
      visit(bytes.subarray(at + headLength, at + headLength + length));
      records++;
      at += headLength + length;
      end = at;
      continue;
    }
    if (allZero(bytes, at)) return { records, damaged, torn: false, end };
    let next = at;
    do {
      next = bytes.indexOf(marker, next + 1);
    } while (next >= 0 && recordAt(bytes, next) < 0);
    if (next < 0) return { records, damaged, torn: true, end };
    damaged++;
    at = next;
  }
}
