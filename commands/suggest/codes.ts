/** Raw values of a number that are no values of it: "not available", "error" and their like. */
import type { SignalFacts } from './signals.ts';
import type { Conversion } from './units.ts';
import { wordsOf } from './words.ts';

/** All bits set is a code only where the signal has room for it. */
const FEWEST_BITS = 8;
/** Beyond this a raw value is not exact. */
const MOST_BITS = 48;
/** More strange values than these are a range that the file has wrong. */
const MOST_CODES = 6;

/** The raw value with all bits set, of a signal that can have such a code. */
export function allBits({ signal }: SignalFacts): number | undefined {
  const { length, type } = signal;
  return type === 'unsigned' && length >= FEWEST_BITS && length <= MOST_BITS ? 2 ** length - 1 : undefined;
}

/** Codes among the raw values, ascending: by label, by the range of the file, and by what the log shows. */
export function codesOf(facts: SignalFacts, conversion: Conversion, usual: readonly [number, number]): number[] {
  const { signal, observed } = facts;
  const { range, choices = new Map<number, string>() } = signal;
  const physical = (raw: number): number => raw * signal.factor + signal.offset;
  const outside = (raw: number): boolean => {
    return (
      range !== undefined &&
      range[1] > range[0] &&
      (physical(raw) < range[0] - signal.factor / 2 || physical(raw) > range[1] + signal.factor / 2)
    );
  };
  const codes = new Set<number>();
  for (const [raw, label] of choices) {
    if (outside(raw) || wordsOf(label).some(({ concepts }) => concepts.includes('unusable'))) codes.add(raw);
  }
  const all = allBits(facts);
  if (all !== undefined && outside(all)) codes.add(all);
  if (observed !== undefined) {
    const strange = [...observed.raws.keys()].filter(outside);
    if (strange.length <= MOST_CODES) for (const raw of strange) codes.add(raw);
    if (all !== undefined && observed.raws.has(all)) {
      const value = physical(all) * conversion.scale + conversion.offset;
      if (value < usual[0] || value > usual[1]) codes.add(all);
    }
  }
  return [...codes].sort((one, other) => one - other);
}
