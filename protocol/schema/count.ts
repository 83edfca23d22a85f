import { quantity } from './fields.ts';

/** A whole number without unit, 0 or more unless the bounds say otherwise. */
export function count(
  description: string,
  { minimum = 0, maximum }: { readonly minimum?: number; readonly maximum?: number } = {},
) {
  return quantity('1', 1, maximum === undefined ? [minimum] : [minimum, maximum], description);
}
