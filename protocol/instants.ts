/** Times inside a value, found by its schema. */
import type { SchemaNode, TSchema } from './schema/fields.ts';
import { mapValue } from './schema/walk.ts';

/** Returns a copy of `value`, which matches `schema`, with `by` ms added to every instant up to `latest`. */
export function shiftInstants<T>(schema: TSchema, value: T, by: number, latest = Number.POSITIVE_INFINITY): T {
  const move = (at: number): number => (at <= latest ? at + by : at);
  return shift(schema as unknown as SchemaNode, value, move) as T;
}

function shift(node: SchemaNode | undefined, value: unknown, move: (at: number) => number): unknown {
  if (node === undefined || value === undefined) return value;
  if (node['x-instant'] === true) return move(value as number);
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value) && node.properties === undefined) return value;
  return mapValue(node, value, (part, member) => shift(part, member, move));
}
