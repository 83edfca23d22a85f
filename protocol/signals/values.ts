/** Values of custom signals: the integers on the wire, and their meaning. */
import { decimalScale, rounded } from '../decimals.ts';
import type { SignalDefinition, SignalKind } from '../schema/catalog.ts';

/** A custom signal as shown to clients: one of a catalog, or a text signal. */
export interface ShownDefinition extends Omit<SignalDefinition, 'kind'> {
  readonly kind: SignalKind | 'text';
}

/** The integer itself if the catalog has no name for it. */
export type SignalValue = number | boolean | string;

/** Returns a function that converts an integer to its value; create it once per signal. */
export function valuesOf({
  kind,
  resolution = 1,
  offset = 0,
  names = [],
}: SignalDefinition): (count: number) => SignalValue {
  if (kind === 'flag') return (count) => count !== 0;
  if (kind === 'enumeration') {
    const byCount = new Map(names.map(({ count, name }) => [count, name]));
    return (count) => byCount.get(count) ?? count;
  }
  const scale = decimalScale(resolution, offset);
  return (count) => rounded(count * resolution + offset, scale) + 0;
}
