/** Fields that a measured value may be in: single bits, bytes, and 12 and 16 bits in both byte orders. */
import type { BitField } from '../dbc/database.ts';

export interface WordField extends BitField {
  /** True if the raw value is a two's complement number. */
  readonly signed: boolean;
  /** Position: the word of this byte and the next, and `length` bits of it from `shift`. */
  readonly byte: number;
  readonly shift: number;
}

/** Returns all fields within a payload of this length. */
export function wordFields(bytes: number): WordField[] {
  return Array.from({ length: bytes }, (_, byte) => fieldsAt(byte, byte + 1 < bytes)).flat();
}

function fieldsAt(byte: number, isFollowed: boolean): WordField[] {
  const first = byte * 8;
  const little = (shift: number, length: number, signed: boolean): WordField => {
    return { start: first + shift, length, byteOrder: 'little', signed, byte, shift };
  };
  // The start of a Motorola field is the most significant bit.
  const big = (shift: number, length: number, signed: boolean): WordField => {
    return { start: first + shift + length - 9, length, byteOrder: 'big', signed, byte, shift };
  };
  const words = [false, true].flatMap((signed) => [
    little(0, 12, signed),
    little(4, 12, signed),
    little(0, 16, signed),
    big(4, 12, signed),
    big(0, 12, signed),
    big(0, 16, signed),
  ]);
  return [
    ...Array.from({ length: 8 }, (_, bit) => little(bit, 1, false)),
    little(0, 8, false),
    little(0, 8, true),
    ...(isFollowed ? words : []),
  ];
}

/** Returns the raw value of a field. The payload must be followed by at least one byte of 0. */
export function wordValue(payload: Uint8Array, { byte, byteOrder, shift, length, signed }: WordField): number {
  const [low, high] = [payload[byte]!, payload[byte + 1]!];
  const word = byteOrder === 'little' ? low | (high << 8) : (low << 8) | high;
  const raw = (word >>> shift) & (2 ** length - 1);
  return signed && raw >= 2 ** (length - 1) ? raw - 2 ** length : raw;
}
