/**
 * A segment file. It starts with 32 bytes, integers little-endian:
 *
 *     |   0..7   | 8..11  |  12..15  |    16..19    |  20   | 21..27 |  28..31   |
 *     | VIGIEJ02 | number | previous | previous end | flags |  zero  |  CRC-32C  |
 *
 * `VIGIEJ` is followed by the bytes 0 and 2. `previous` is the previous segment with records, which are valid up to
 * `previous end`: any bytes after it, and all segments between the two, were given up. Flag 1 means that the file was
 * used before: bytes after the records may then be left over from its previous use.
 */
import { crc32c, crc32cOf } from './crc32c.ts';

export interface Segment {
  readonly number: number;
  readonly path: string;
  /** Seed of the CRCs of its records. */
  readonly seed: number;
  /** Size of header and records, bytes; the file may be longer. */
  used: number;
  /** Size of the records of existing entries, bytes. */
  live: number;
  /** True if the file has no bytes after the valid records. */
  clean: boolean;
  /** True if the disk refused a sync, so that a power cut may lose its records: the next group copies them. */
  suspect: boolean;
  /** True if its live records cannot be copied: the disk does not return them, or they are damaged. */
  broken: boolean;
  /** True if it was damaged when read: the next group copies its live records, so that no later start finds damage. */
  damaged: boolean;
  /** True if it is dead but the disk refused to rename or remove its file. */
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

/** Returns the seed of the CRCs of a segment: the CRC of its number. */
export function seedOf(number: number): number {
  return crc32cOf(number);
}

/** Returns the header of a new segment after `before`, whose number is 0 if there is none. */
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
