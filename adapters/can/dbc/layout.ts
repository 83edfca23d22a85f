/**
 * The bits of a field. In one of two numberings of the payload, each signal is one run of consecutive bits. Intel
 * signals run upwards through bits counted from the least significant bit of byte 0. Motorola signals run through bits
 * counted from the most significant bit of byte 0:
 *
 *         byte 0                    byte 1
 *     7  6  5  4  3  2  1  0   15 14 13 12 11 10  9  8    bit as in DBC, and Intel position
 *     0  1  2  3  4  5  6  7    8  9 10 11 12 13 14 15    Motorola position
 */
import type { BitField, Signal } from './database.ts';

/** Returns the position of the first bit of the run in the field's own numbering. */
export function runStart(field: BitField): number {
  return field.byteOrder === 'little' ? field.start : (field.start & ~7) | (7 - (field.start & 7));
}

/** Returns the payload length in bytes that the field needs. */
export function bytesNeeded(field: BitField): number {
  return (runStart(field) + field.length + 7) >>> 3;
}

/** Returns the field's bits as DBC bit numbers, least significant first. */
export function bitsOf(field: BitField): number[] {
  const first = runStart(field);
  return Array.from({ length: field.length }, (_, i) => {
    if (field.byteOrder === 'little') return first + i;
    const position = first + field.length - 1 - i;
    return (position & ~7) | (7 - (position & 7));
  });
}

/** Returns the bits of a field as an unsigned integer. The field must be inside the payload. */
export function readBits(data: Uint8Array, field: BitField): bigint {
  return bitsOf(field).reduceRight((raw, bit) => (raw << 1n) | BigInt((data[bit >>> 3]! >>> (bit & 7)) & 1), 0n);
}

/** Writes the low bits of `raw` into the field and no others. Negative numbers are written in two's complement. */
export function writeBits(data: Uint8Array, field: BitField, raw: bigint): void {
  bitsOf(field).forEach((bit, i) => {
    const mask = 1 << (bit & 7);
    const byte = data[bit >>> 3]!;
    data[bit >>> 3] = (raw >> BigInt(i)) & 1n ? byte | mask : byte & ~mask;
  });
}

/** Longest payload of a frame in bytes (ISO 11898-1, CAN FD). */
export const longestPayload = 64;

/**
 * Returns true if the signal and all multiplexors above it lie within a frame, and do not need a transport protocol.
 */
export function readable(signal: Signal): boolean {
  for (let one: Signal | undefined = signal; one !== undefined; one = one.selection?.multiplexor) {
    if (bytesNeeded(one) > longestPayload) return false;
  }
  return true;
}
