/** Values of custom signals: the integers that travel, and what they say. */
import { decimalScale, rounded } from '../decimals.ts';
import type { SignalDefinition, SignalKind } from '../schema/catalog.ts';

/** A custom signal for readers: one of a catalog, or a text. */
export interface ShownDefinition extends Omit<SignalDefinition, 'kind'> {
  readonly kind: SignalKind | 'text';
}

/** A name that the catalog does not have is the integer itself. */
export type SignalValue = number | boolean | string;

/** Gives the value that an integer stands for; made once for a signal. */
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
