/** Detects raw values of a number that are codes instead of values: "not available", "error" and similar. */
import type { Signal } from '../../adapters/can/dbc/index.ts';
import type { SignalFacts } from './signals.ts';
import type { Conversion } from './units.ts';
import { wordsOf } from './words.ts';

/** Smallest signal, in bits, in which a value with all bits set is a code. */
const FEWEST_BITS = 8;
/** Largest signal, in bits, whose raw values are exact. */
const MOST_BITS = 48;
/** Largest number of codes. If there are more strange values, the range in the file is wrong. */
const MOST_CODES = 6;

/** Returns true if the bits of the signal can hold the raw value. In files, labels may also name other values. */
export function holds({ length, type }: Signal, raw: number): boolean {
  if (!Number.isSafeInteger(raw)) return false;
  const bits = Math.min(length, 53);
  return type === 'signed' ? raw >= -(2 ** (bits - 1)) && raw < 2 ** (bits - 1) : raw >= 0 && raw < 2 ** bits;
}

/** Returns true if a raw value is most likely a code, because of its label, the range in the file, or all bits set. */
export function isCode(signal: Signal, raw: number): boolean {
  const label = signal.choices?.get(raw);
  return (label !== undefined && isUnusable(label)) || isOutside(signal, raw) || raw === allBits(signal);
}

/** Returns the codes in ascending order: according to labels, to the range in the file, and to the log. */
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

/** Returns the codes of a number with an unknown unit: only those that occur in the log. */
export function shownCodes({ signal, observed }: SignalFacts): number[] {
  return [...(observed?.raws ?? [])]
    .filter((raw) => isCode(signal, raw))
    .slice(0, MOST_CODES)
    .sort((one, other) => one - other);
}

/** Returns true if a label means that there is no value. */
export function isUnusable(label: string): boolean {
  return wordsOf(label).some(({ concepts }) => concepts.includes('unusable'));
}

function isOutside(signal: Signal, raw: number): boolean {
  const { range, factor } = signal;
  if (range === undefined || !(range[1] > range[0])) return false;
  const value = physical(signal, raw);
  // The range in the file may be rounded to the next step.
  const step = Math.abs(factor) / 2;
  return value < range[0] - step || value > range[1] + step;
}

/** Returns the raw value with all bits set, for a signal that can have such a code. */
function allBits({ length, type }: Signal): number | undefined {
  return type === 'unsigned' && length >= FEWEST_BITS && length <= MOST_BITS ? 2 ** length - 1 : undefined;
}

function physical({ factor, offset }: Signal, raw: number): number {
  return raw * factor + offset;
}
