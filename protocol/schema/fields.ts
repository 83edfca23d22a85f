/**
 * Building blocks of all resource schemas. A schema built of them is plain JSON Schema (TypeBox) with
 * annotations from which the CBOR codec, the CDDL and the Status slots are derived:
 *
 * | annotation | on | meaning |
 * |---|---|---|
 * | `x-key` | a field | integer key on the wire; never reused, never renumbered |
 * | `x-unit` | a number | physical unit |
 * | `x-resolution` | a number | the wire carries round(value / resolution) as an integer; 0 means IEEE 754 |
 * | `x-values` | an enumeration | wire value = position in the list; append only |
 * | `x-identity` | an array of records | fields that identify its entries, e.g. `['type']` |
 * | `x-instant` | an integer | UTC milliseconds; on the wire milliseconds before the message's `at` |
 * | `x-coding` | bytes | page that describes their content |
 * | `x-constant` | a field | fixed by the interface; not sent, restored by the decoder |
 */

import type { Static, TOptional, TSchema, TUnsafe } from 'typebox';
import * as Type from 'typebox';
import { defined } from '../defined.ts';

export type { Static, TSchema };

/** Keywords and annotations of a schema that is built with this module and mapping.ts, for traversal. */
export interface SchemaNode {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly prefixItems?: readonly SchemaNode[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly const?: string;
  readonly 'x-key'?: number;
  readonly 'x-unit'?: string;
  readonly 'x-resolution'?: number;
  readonly 'x-values'?: readonly string[];
  readonly 'x-identity'?: readonly string[];
  readonly 'x-instant'?: boolean;
  readonly 'x-bytes'?: boolean;
  readonly 'x-coding'?: string;
  readonly 'x-constant'?: boolean;
  readonly 'x-slot'?: 'whole' | 'none';
  readonly 'x-flat'?: boolean;
  readonly 'x-item'?: string;
  readonly 'x-only'?: string;
  readonly 'x-duration'?: boolean;
}

/**
 * A physical number. In the car and in JSON it is in `unit`; on the wire it is an integer count of `resolution`.
 *
 * @param unit unit in the interface, e.g. `km/h`; `1` for a plain count
 * @param resolution smallest step on the wire; 0 sends the float unchanged
 * @param range least and greatest value, each optional
 * @param description meaning and source (interface clause or standard); the same for all functions below
 */
export function quantity(
  unit: string,
  resolution: number,
  [minimum, maximum]: readonly [minimum?: number | undefined, maximum?: number],
  description: string,
): TUnsafe<number> {
  return Type.Unsafe<number>({
    type: resolution !== 0 && Number.isInteger(resolution) ? 'integer' : 'number',
    ...defined({ minimum, maximum }),
    description,
    'x-unit': unit,
    'x-resolution': resolution,
  });
}

/** A boolean. */
export function flag(description: string): TUnsafe<boolean> {
  return Type.Unsafe<boolean>({ type: 'boolean', description });
}

/** A string of at most `maxLength` characters (default 256). */
export function text(
  description: string,
  bounds: { readonly maxLength?: number; readonly pattern?: string } = {},
): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', maxLength: 256, ...bounds, description });
}

/** One of a fixed list of names; the wire carries its position, so the list is append only. */
export function enumeration<const V extends readonly string[]>(description: string, values: V): TUnsafe<V[number]> {
  return Type.Unsafe<V[number]>({ type: 'string', enum: values, 'x-values': values, description });
}

/** A time, UTC milliseconds since 1970 (RFC 3339 in the HTTP interface). */
export function instant(description: string): TUnsafe<number> {
  return Type.Unsafe<number>({ type: 'integer', 'x-instant': true, 'x-unit': 'ms', description });
}

/** Raw bytes; `coding` names the page that describes their content. */
export function bytes(
  description: string,
  { coding, ...bounds }: { readonly maxLength?: number; readonly coding?: string } = {},
): TUnsafe<Uint8Array> {
  return Type.Unsafe<Uint8Array>({
    'x-bytes': true,
    description,
    ...bounds,
    ...defined({ 'x-coding': coding }),
  });
}

/** A value that the interface fixes, such as GeoJSON's `type`. */
export function constant<const V extends string>(value: V, description: string): TUnsafe<V> {
  return Type.Unsafe<V>({ type: 'string', const: value, 'x-constant': true, description });
}

/** A list. `identity` names the fields that identify an entry; `minItems` and `maxItems` bound it. */
export function list<S extends TSchema>(
  description: string,
  items: S,
  bounds: { readonly identity?: readonly string[]; readonly minItems?: number; readonly maxItems?: number } = {},
) {
  const { identity, ...rest } = bounds;
  return Type.Array(items, { ...rest, description, ...defined({ 'x-identity': identity }) });
}

/** A fixed sequence of fields, such as GeoJSON coordinates; entries after the first `required` may be absent. */
export function tuple<V extends readonly number[]>(
  description: string,
  required: number,
  items: readonly TSchema[],
): TUnsafe<V> {
  return Type.Unsafe<V>({
    type: 'array',
    prefixItems: items,
    minItems: required,
    maxItems: items.length,
    'x-tuple': true,
    description,
  });
}

/** A required field, with its integer key on the wire. */
export function required<S extends TSchema>(key: number, schema: S): S {
  return { ...schema, 'x-key': key } as S;
}

/** An optional field, with its integer key on the wire. */
export function optional<S extends TSchema>(key: number, schema: S): TOptional<S> {
  return Type.Optional({ ...schema, 'x-key': key } as S) as TOptional<S>;
}

/** An object with fields by their published names. Unknown fields of input are accepted and ignored. */
export function record<P extends Record<string, TSchema>>(name: string, description: string, members: P) {
  return Type.Object(members, { title: name, description });
}
