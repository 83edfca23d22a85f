/** Raw values of a number that are not values of it: "not available", "error" and their like. */
import type { Signal } from '../../adapters/can/dbc/index.ts';
import type { SignalFacts } from './signals.ts';
import type { Conversion } from './units.ts';
import { wordsOf } from './words.ts';

/** All bits set is a code only where the signal has room for it. */
const FEWEST_BITS = 8;
/** Beyond this a raw value is not exact. */
const MOST_BITS = 48;
/** More strange values than these are a range that the file has wrong. */
const MOST_CODES = 6;

/** Whether the bits of the signal can have the raw value; labels of files stand for others too. */
export function holds({ length, type }: Signal, raw: number): boolean {
  if (!Number.isSafeInteger(raw)) return false;
  const bits = Math.min(length, 53);
  return type === 'signed' ? raw >= -(2 ** (bits - 1)) && raw < 2 ** (bits - 1) : raw >= 0 && raw < 2 ** bits;
}

/** Whether the raw value of a number is most likely a code: by label, by the range of the file, or as all bits are set. */
export function isCode(signal: Signal, raw: number): boolean {
  const label = signal.choices?.get(raw);
  return (label !== undefined && isUnusable(label)) || isOutside(signal, raw) || raw === allBits(signal);
}

/** Codes among the raw values, ascending: by label, by the range of the file, and by what the log shows. */
export function codesOf(
  { signal, observed }: SignalFacts,
  conversion: Conversion,
  usual: readonly [number, number],
): number[] {
  const codes = new Set<number>();
  for (const [raw, label] of signal.choices ?? []) {
    if (holds(signal, raw) && (isOutside(signal, raw) || isUnusable(label))) codes.add(raw);
  }
  const all = allBits(signal);
  if (all !== undefined && isOutside(signal, all)) codes.add(all);
  const strange = [...(observed?.raws ?? [])].filter((raw) => isOutside(signal, raw));
  if (strange.length <= MOST_CODES) for (const raw of strange) codes.add(raw);
  if (all !== undefined && observed?.raws.has(all) === true) {
    const value = physical(signal, all) * conversion.scale + conversion.offset;
    if (value < usual[0] || value > usual[1]) codes.add(all);
  }
  return [...codes].sort((one, other) => one - other);
}

/** Codes of a number with an unknown unit: those that the log shows. */
export function shownCodes({ signal, observed }: SignalFacts): number[] {
  return [...(observed?.raws ?? [])]
    .filter((raw) => isCode(signal, raw))
    .slice(0, MOST_CODES)
    .sort((one, other) => one - other);
}

function isUnusable(label: string): boolean {
  return wordsOf(label).some(({ concepts }) => concepts.includes('unusable'));
}

function isOutside(signal: Signal, raw: number): boolean {
  const { range, factor } = signal;
  if (range === undefined || !(range[1] > range[0])) return false;
  const value = physical(signal, raw);
  // A step less than one is the range rounded.
  const step = Math.abs(factor) / 2;
  return value < range[0] - step || value > range[1] + step;
}

/** The raw value with all bits set, of a signal that can have such a code. */
function allBits({ length, type }: Signal): number | undefined {
  return type === 'unsigned' && length >= FEWEST_BITS && length <= MOST_BITS ? 2 ** length - 1 : undefined;
}

function physical({ factor, offset }: Signal, raw: number): number {
  return raw * factor + offset;
}
