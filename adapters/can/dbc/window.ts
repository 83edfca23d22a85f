/**
 * The short way to take a signal out of a payload: one 32-bit load and two shifts. It serves signals whose bits lie
 * within four neighbouring bytes, which nearly all do; payloads are padded to 8 bytes, so the load can always be
 * placed inside. The numbers are packed into one integer, because loading seven of them costs more than the rest:
 *
 *     bit 31      signed
 *     bits 10..15 first byte of the window, 0..60
 *     bits 5..9   shift right, 32 - width
 *     bits 0..4   shift left, bits of the window above the signal
 */
import type { BitField, ValueType } from './database.ts';
import { bytesNeeded, runStart } from './layout.ts';

/** The packed window of a signal, or undefined when it does not fit one. */
export function packedWindow(signal: BitField & { readonly type: ValueType }): number | undefined {
  const { length, byteOrder, type } = signal;
  // 32 bits unsigned do not fit the signed integers that shifts give.
  if (type === 'float' || length > 32 || (length === 32 && type === 'unsigned')) return undefined;
  const first = runStart(signal);
  const padded = (bytesNeeded(signal) + 7) & ~7;
  const byte = Math.min(first >>> 3, padded - 4);
  const before = first - byte * 8;
  if (before + length > 32) return undefined;
  const left = byteOrder === 'little' ? 32 - before - length : before;
  return (type === 'signed' ? 1 << 31 : 0) | (byte << 10) | ((32 - length) << 5) | left;
}

/** First byte of the window. */
export function windowByte(packed: number): number {
  return (packed >>> 10) & 63;
}

/**
 * The raw value, from the four bytes of the window in the signal's byte order. Shifts use the low five bits of
 * their right side only, so the fields need not be cut out; the mask makes unsigned what the arithmetic shift signed.
 */
export function windowRaw(bytes: number, packed: number): number {
  const right = packed >>> 5;
  return ((bytes << packed) >> right) & ((-1 >>> right) | (packed >> 31));
}
