/** Checks whether the values of a signal can be those of a numeric path, and finds the conversion. */
import type { NumberRule } from './rule.ts';
import type { SignalFacts } from './signals.ts';
import { type Conversion, conversionTo, saysNoUnit, unitsFor } from './units.ts';
import { wordsOf } from './words.ts';

export type NumberFit =
  /** The signal fits. `by` says where the unit comes from. */
  | { readonly kind: 'fits'; readonly conversion: Conversion; readonly by: string; readonly certain: boolean }
  /** The name fits; the question asks for the missing data. */
  | { readonly kind: 'asks'; readonly question: string };

/** Length in bits of the smallest number. A shorter signal is a state. */
const FEWEST_BITS = 4;

/** Returns how the signal fits the rule; undefined if it is not such a number. */
export function numberFit(rule: NumberRule, wanted: string, facts: SignalFacts): NumberFit | undefined {
  const { signal } = facts;
  if (signal.length < FEWEST_BITS || isList(facts)) return undefined;
  const span = spanOf(facts);
  const shown = shownSpan(facts);
  const declared = signal.range !== undefined || signal.unit === '';
  const possible = (conversion: Conversion): boolean => {
    const [low, high] = converted(span, conversion);
    if (low > rule.covers[0] || high < rule.covers[1]) return false;
    // If the file contains the unit but no range, the range of the bits is meaningless.
    if (declared && (low < rule.within[0] || high > rule.within[1])) return false;
    if (shown === undefined) return true;
    const [least, most] = converted(shown, conversion);
    return most >= rule.usual[0] && least <= rule.usual[1] && most <= rule.usual[1] && least >= rule.usual[0];
  };
  const { unit } = signal;
  const stated = conversionTo(wanted, unit);
  if (stated !== undefined) {
    return possible(stated.conversion)
      ? { kind: 'fits', conversion: stated.conversion, by: `unit ${unit.trim()}`, certain: true }
      : undefined;
  }
  const asked = Object.entries(rule.asks ?? {}).find(([units]) => units.split(' ').includes(unit.trim()));
  if (asked !== undefined) return { kind: 'asks', question: asked[1] };
  if (!saysNoUnit(unit, wanted) || facts.borrowed) return undefined;
  const named = wordsOf(signal.name).filter(({ text }) => text.length > 1);
  const [byName] = named.flatMap(({ text }) => conversionTo(wanted, text) ?? []);
  if (byName !== undefined) {
    return possible(byName.conversion)
      ? { kind: 'fits', conversion: byName.conversion, by: `unit ${byName.name} by its name`, certain: true }
      : undefined;
  }
  const range = `the range ${span[0]} to ${span[1]}`;
  const candidates = unitsFor(wanted).filter(({ conversion }) => possible(conversion));
  const [only] = candidates;
  // Ranges are often inaccurate: they only suffice to assume the usual unit.
  const usual = only !== undefined && only.conversion.scale === 1 && only.conversion.offset === 0;
  if (usual && candidates.length === 1 && rule.unitNeeded === undefined) {
    return { kind: 'fits', conversion: only.conversion, by: `unit ${only.name} by ${range}`, certain: false };
  }
  if (candidates.length === 0) {
    const seen = shown === undefined ? '' : `; the log has ${shownText(shown)}`;
    return {
      kind: 'asks',
      question: `no unit in the DBC, and ${range} is none of ${wanted}${seen}: give scale and offset`,
    };
  }
  const other = typeof rule.unitNeeded === 'string' ? [rule.unitNeeded] : [];
  const units = [...candidates.map(({ name, conversion }) => `${name}${howTo(conversion)}`), ...other];
  return { kind: 'asks', question: `no unit in the DBC, and ${range} may be ${units.join(' or ')}` };
}

function shownText([low, high]: readonly [number, number]): string {
  return low === high ? String(rounded(low)) : `${rounded(low)} to ${rounded(high)}`;
}

function howTo({ scale, offset }: Conversion): string {
  if (scale === 1 && offset === 0) return '';
  return ` (scale: ${rounded(scale)}${offset === 0 ? '' : `, offset: ${rounded(offset)}`})`;
}

/** Rounds a number for a profile, without the noise of binary fractions. */
export function rounded(value: number): number {
  return Number(value.toPrecision(9));
}

/** Returns true if most values have names: the signal is then a state, not a number. */
function isList({ signal }: SignalFacts): boolean {
  const names = signal.choices?.size ?? 0;
  return names > 4 && names > 2 ** Math.min(signal.length, 30) / 4;
}

/** Returns the smallest and largest physical value that the description allows. */
function spanOf({ signal }: SignalFacts): [number, number] {
  const { length, type, factor, offset, range } = signal;
  if (type === 'float') return range === undefined ? [-1e9, 1e9] : [...range];
  const raws = type === 'signed' ? [-(2 ** (length - 1)), 2 ** (length - 1) - 1] : [0, 2 ** length - 1];
  const ends = raws.map((raw) => raw * factor + offset);
  const able: [number, number] = [rounded(Math.min(...ends)), rounded(Math.max(...ends))];
  if (range === undefined || !(range[1] > range[0])) return able;
  const both: [number, number] = [Math.max(able[0], range[0]), Math.min(able[1], range[1])];
  return both[1] > both[0] ? both : able;
}

/** Returns the smallest and largest value in the log, excluding codes. */
function shownSpan({ observed }: SignalFacts): readonly [number, number] | undefined {
  return observed?.span;
}

function converted([low, high]: readonly [number, number], { scale, offset }: Conversion): [number, number] {
  const ends = [low * scale + offset, high * scale + offset];
  return [Math.min(...ends), Math.max(...ends)];
}
