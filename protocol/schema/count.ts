import { quantity } from './fields.ts';

/** A whole number without unit, at least 0 unless the bounds differ. */
export function count(
  description: string,
  { minimum = 0, maximum }: { readonly minimum?: number; readonly maximum?: number } = {},
) {
  return quantity('1', 1, maximum === undefined ? [minimum] : [minimum, maximum], description);
}
