/**
 * A segment file. It starts with a header of 32 bytes, integers little-endian:
 *
 *     |   0..7   | 8..11  |  12..15  |    16..19    |  20   | 21..27 |  28..31   |
 *     | VIGIEJ02 | number | previous | previous end | flags |  zero  |  CRC-32C  |
 *
 * `VIGIEJ` is followed by the bytes 0 and 2. `previous` is the number of the previous segment that has records, which
 * are valid up to `previous end`: bytes after it, and segments between the two, were abandoned. Flag 1 means that the
 * file was used before: bytes after the records may be left over from that use.
 */
import { crc32c, crc32cOf } from './crc32c.ts';

export interface Segment {
  readonly number: number;
  readonly path: string;
  /** Seed of the CRCs of the segment's records. */
  readonly seed: number;
  /** Size of header and records in bytes; the file may be longer. */
  used: number;
  /** Size in bytes of the records of existing entries. */
  live: number;
  /** True if the file has no bytes after the valid records. */
  clean: boolean;
  /** True if a sync failed, so that a power cut may lose the records: the next group copies them. */
  suspect: boolean;
  /** True if the live records cannot be copied, because they are damaged or the disk fails to return them. */
  broken: boolean;
  /** True if damage was found when reading: the next group copies the live records, so that it is not found again. */
  damaged: boolean;
  /** True if the segment is dead but the disk refused to rename or remove its file. */
  stuck: boolean;
}

export interface Header {
  readonly number: number;
  readonly previous: number;
  readonly previousEnd: number;
  readonly usedBefore: boolean;
}

export const headerLength = 32;
const name: Uint8Array = Uint8Array.of(0x56, 0x49, 0x47, 0x49, 0x45, 0x4a, 0, 2);
const crcAt = 28;

export function newSegment(number: number, path: string): Segment {
  const seed = seedOf(number);
  const flags = { clean: true, suspect: false, broken: false, damaged: false, stuck: false };
  return { number, path, seed, used: headerLength, live: 0, ...flags };
}

/** Returns the seed of a segment's CRCs: the CRC of the segment's number. */
export function seedOf(number: number): number {
  return crc32cOf(number);
}

/** Returns the header of a new segment that follows `before`; if there is none, `before.number` is 0. */
export function writeHeader(number: number, before: Pick<Segment, 'number' | 'used'>, usedBefore: boolean): Uint8Array {
  const bytes = new Uint8Array(headerLength);
  const view = new DataView(bytes.buffer);
  bytes.set(name);
  view.setUint32(8, number, true);
  view.setUint32(12, before.number, true);
  view.setUint32(16, before.used, true);
  bytes[20] = usedBefore ? 1 : 0;
  view.setUint32(crcAt, crc32c(bytes, 0, crcAt), true);
  return bytes;
}

/** Returns the header at the start of a file, or undefined if there is none or it is damaged. */
export function readHeader(bytes: Uint8Array): Header | undefined {
  if (bytes.length < headerLength || !name.every((byte, i) => bytes[i] === byte)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(crcAt, true) !== crc32c(bytes, 0, crcAt)) return undefined;
  return {
    number: view.getUint32(8, true),
    previous: view.getUint32(12, true),
    previousEnd: view.getUint32(16, true),
    usedBefore: (bytes[20]! & 1) === 1,
  };
}
