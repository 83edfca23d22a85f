/**
 * The short way to take a signal out of a payload: two shifts of one of ten windows. It serves signals whose bits lie
 * within four neighbouring ones of the first eight bytes, which nearly all do. The windows are the five 32-bit words
 * that begin at bytes 0 to 4, in Intel order, then the five in Motorola order; they are cut out once a frame. All
 * numbers are packed into one integer, because loading them one by one costs more than the rest:
 *
 *     bit 31      signed
 *     bits 14..30 index of the wanted signal
 *     bits 10..13 window
 *     bits 5..9   shift right, 32 - width
 *     bits 0..4   shift left, bits of the window above the signal
 *
 * Shifts use the low five bits of their right side only, so those fields need not be cut out.
 */
import type { BitField, ValueType } from './database.ts';
import { runStart } from './layout.ts';

/** Windows, rounded up so that every number of four bits is one: then its bounds need no check. */
export const WINDOWS = 16;

const mostSignals = 0x2_0000;

/** The packed window of a signal with this index, or undefined when it does not fit one. */
export function packedWindow(signal: BitField & { readonly type: ValueType }, index: number): number | undefined {
  const { length, byteOrder, type } = signal;
  // 32 bits unsigned do not fit the signed integers that shifts give.
  if (type === 'float' || (length === 32 && type === 'unsigned')) return undefined;
  if (index < 0 || index >= mostSignals) return undefined;
  const first = runStart(signal);
  const byte = Math.min(first >>> 3, 4);
  const before = first - byte * 8;
  if (before + length > 32) return undefined;
  const left = byteOrder === 'little' ? 32 - before - length : before;
  const window = byteOrder === 'little' ? byte : byte + 5;
  return (type === 'signed' ? 1 << 31 : 0) | (index << 14) | (window << 10) | ((32 - length) << 5) | left;
}

/** Cuts the windows out of a payload that is padded to eight bytes at least. */
export function cutWindows(windows: Int32Array, view: DataView, from: number): void {
  const low = view.getInt32(from, true);
  const high = view.getInt32(from + 4, true);
  windows[0] = low;
  windows[1] = (low >>> 8) | (high << 24);
  windows[2] = (low >>> 16) | (high << 16);
  windows[3] = (low >>> 24) | (high << 8);
  windows[4] = high;
  const first = view.getInt32(from, false);
  const second = view.getInt32(from + 4, false);
  windows[5] = first;
  windows[6] = (first << 8) | (second >>> 24);
  windows[7] = (first << 16) | (second >>> 16);
  windows[8] = (first << 24) | (second >>> 8);
  windows[9] = second;
}

/** Index of the wanted signal. */
export function windowSignal(packed: number): number {
  return (packed >>> 14) & 0x1ffff;
}

/** The raw value. The mask makes unsigned what the arithmetic shift signed. */
export function windowRaw(windows: Int32Array, packed: number): number {
  const right = packed >>> 5;
  return ((windows[(packed >>> 10) & 15]! << packed) >> right) & ((-1 >>> right) | (packed >> 31));
}
