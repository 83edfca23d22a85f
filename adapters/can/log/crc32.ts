/** CRC-32 of zip and gzip (APPNOTE 4.4.7; RFC 1952 §8): polynomial EDB88320, reflected. */
import * as zlib from 'node:zlib';

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) === 0 ? 0 : 0xedb8_8320);
  return crc;
});

/** CRC-32 for Node before 20.15, which has no zlib.crc32. The armv7 executable contains such a Node. */
export function portableCrc32(bytes: Uint8Array, before = 0): number {
  let crc = ~before;
  for (const byte of bytes) crc = (crc >>> 8) ^ table[(crc ^ byte) & 0xff]!;
  return ~crc >>> 0;
}

/** Returns the checksum of `bytes` after earlier bytes with the checksum `before`. */
export const crc32: typeof portableCrc32 = (zlib as { crc32?: typeof portableCrc32 }).crc32 ?? portableCrc32;
