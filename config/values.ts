/** Checks whether a Status path accepts a value. */

import { defined } from '../protocol/defined.ts';
import { suggestion } from '../protocol/nearest.ts';
import { type Leaf, type Slot, slotByPath } from '../protocol/slots.ts';
import { quoted, show } from './faults.ts';
import type { Findings } from './findings.ts';

/** A value written in a profile. */
export type FixedValue = string | number | boolean | readonly string[];

interface Misfit {
  readonly message: string;
  readonly fix?: string;
}

/** Returns the slot of a path. Reports an unknown path at `at`. */
export function slotAt(path: string, at: string, findings: Findings): Slot | undefined {
  const slot = slotByPath.get(path);
  if (slot === undefined) {
    findings.error(
      at,
      `Status has no path ${quoted(path)}`,
      suggestion(path, slotByPath.keys()) ?? 'config/generated/status-paths.md lists all paths',
    );
  }
  return slot;
}

/** Returns the reason why `value` can never be a value of the slot, or undefined if it can. */
export function misfit(slot: Leaf, value: FixedValue): Misfit | undefined {
  switch (slot.kind) {
    case 'quantity':
      return quantityMisfit(slot, value);
    case 'flag':
      return typeof value === 'boolean' ? undefined : wrong(slot, 'true or false', value, 'without quotes');
    case 'enumeration':
      return typeof value === 'string' ? nameMisfit(slot, value) : wrong(slot, `one of ${names(slot)}`, value);
    case 'set':
      if (!Array.isArray(value)) {
        const fix = typeof value === 'string' ? `write [${value}]` : undefined;
        return wrong(slot, `a list of ${names(slot)}`, value, fix);
      }
      return firstMisfit(slot, value);
    case 'text':
      return textMisfit(slot, value);
    case 'instant':
      if (typeof value === 'number' && Number.isInteger(value) && isWithin(slot, value)) return undefined;
      return wrong(slot, 'a whole number of milliseconds since 1970 (UTC)', value);
    case 'value':
      return { message: `${slot.path} is a structure, which no profile can give` };
  }
}

function isWithin({ minimum, maximum }: Leaf, value: number): boolean {
  return (minimum === undefined || value >= minimum) && (maximum === undefined || value <= maximum);
}

function textMisfit(slot: Leaf, value: FixedValue): Misfit | undefined {
  const { duration, maxLength, pattern } = slot;
  if (typeof value !== 'string') return wrong(slot, 'a text', value);
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) {
    if (duration === true) return wrong(slot, 'an ISO 8601 duration', value, 'write e.g. PT14H30M');
    return wrong(slot, `a text that matches ${pattern}`, value);
  }
  if (maxLength === undefined || [...value].length <= maxLength) return undefined;
  return wrong(slot, `a text of at most ${maxLength} characters`, value);
}

/** Lists the names of an enumeration or set. Shortens the list if there are many names. */
function names(slot: Leaf): string {
  const all = slot.values ?? [];
  return all.length > 12 ? `${all.slice(0, 12).join(', ')}, …` : all.join(', ');
}

function wrong(slot: Leaf, wanted: string, value: FixedValue, fix?: string): Misfit {
  return { message: `${slot.path} must be ${wanted}, not ${show(value)}`, ...defined({ fix }) };
}

function quantityMisfit(slot: Leaf, value: FixedValue): Misfit | undefined {
  const unit = slot.unit === undefined || slot.unit === '1' ? '' : ` ${slot.unit}`;
  if (typeof value !== 'number' || !Number.isFinite(value))
    return wrong(slot, `a number${unit && ` of${unit}`}`, value);
  if (slot.minimum !== undefined && value < slot.minimum) {
    return { message: `${slot.path} is never below ${slot.minimum}${unit}, and ${value} is` };
  }
  if (slot.maximum !== undefined && value > slot.maximum) {
    return { message: `${slot.path} is never above ${slot.maximum}${unit}, and ${value} is` };
  }
  return undefined;
}

function nameMisfit(slot: Leaf, name: string): Misfit | undefined {
  const known = slot.values ?? [];
  if (known.includes(name)) return undefined;
  const fix = suggestion(name, known) ?? `known: ${names(slot)}`;
  return { message: `${slot.path} is never ${quoted(name)}`, fix };
}

function firstMisfit(slot: Leaf, value: readonly string[]): Misfit | undefined {
  for (const name of value) {
    const fault = nameMisfit(slot, name);
    if (fault !== undefined) return fault;
  }
  const twice = value.find((name, index) => value.indexOf(name) !== index);
  return twice === undefined
    ? undefined
    : { message: `${quoted(twice)} is in the list twice`, fix: 'keep one of them' };
}
