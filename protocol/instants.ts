/** Moments inside a value, found by its schema. */
import type { TSchema } from './schema/fields.ts';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly prefixItems?: readonly Node[];
  readonly 'x-instant'?: boolean;
}

/** A copy of `value`, which follows `schema`, with every instant moved by `by` ms. */
export function shiftInstants<T>(schema: TSchema, value: T, by: number): T {
  return shift(schema as unknown as Node, value, by) as T;
}

function shift(node: Node | undefined, value: unknown, by: number): unknown {
  if (node === undefined || value === undefined) return value;
  if (node['x-instant'] === true) return (value as number) + by;
  if (Array.isArray(value)) {
    return value.map((item, index) => shift(node.items ?? node.prefixItems?.[index], item, by));
  }
  if (node.properties === undefined || typeof value !== 'object' || value === null) return value;
  const { properties } = node;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shift(properties[name], member, by)]));
}
