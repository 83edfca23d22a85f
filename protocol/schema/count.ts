import { quantity } from './fields.ts';

/** A whole number without unit, 0 or more unless the bounds say otherwise. */
export function count(description: string, bounds: { readonly minimum?: number; readonly maximum?: number } = {}) {
  return quantity({ unit: '1', resolution: 1, minimum: 0, ...bounds, description });
}
