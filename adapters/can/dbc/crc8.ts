/** The two 8-bit CRCs of AUTOSAR (CRC library specification, §7.2.1). Both start at 0xFF and are inverted at the end. */

function table(polynomial: number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x80) !== 0 ? ((crc << 1) ^ polynomial) & 0xff : crc << 1;
    return crc;
  });
}

const j1850 = table(0x1d);
const h2f = table(0x2f);

function crc(table: Uint8Array, bytes: Iterable<number>, start: number, invert: number): number {
  let value = start;
  for (const byte of bytes) value = table[value ^ byte]!;
  return value ^ invert;
}

/** CRC-8 SAE J1850: polynomial 0x1D. Check value of "123456789": 0x4B. */
export function crc8J1850(bytes: Iterable<number>, start = 0xff, invert = 0xff): number {
  return crc(j1850, bytes, start, invert);
}

/** CRC-8 0x2F: polynomial 0x2F. Check value of "123456789": 0xDF. */
export function crc8H2f(bytes: Iterable<number>, start = 0xff, invert = 0xff): number {
  return crc(h2f, bytes, start, invert);
}
