/**
 * Building blocks of the schemas for files that people write. A schema uses no `anyOf`: a field with several forms
 * lists several types, so that every fault has one place and one sentence. `x-expected` completes the sentence "must be
 * …".
 */

import type { TProperties, TSchema, TUnsafe } from 'typebox';
import * as Type from 'typebox';
import { DAY } from '../protocol/calendar.ts';
import { withoutWords } from '../protocol/schema/walk.ts';

/** Field names that become keys of objects and parts of topics. */
export const NAME = '^[A-Za-z][A-Za-z0-9_-]{0,63}$';

/** Object with exactly these fields. An unknown field is a fault, because its value would be lost. */
export function closed<P extends TProperties>(description: string, members: P) {
  return Type.Object(members, {
    additionalProperties: false,
    description,
    'x-expected': 'members, each `name: value`',
  });
}

/** Object whose keys the author of the file chooses; they must match `pattern`. */
export function keyed<S extends TSchema>(pattern: string, values: S, description: string, keys: string) {
  return Type.Unsafe<Readonly<Record<string, Type.Static<S>>>>({
    type: 'object',
    propertyNames: { type: 'string', pattern, 'x-expected': keys },
    additionalProperties: values,
    description,
    'x-expected': 'members, each `name: value`',
  });
}

/** One `item`, or a list of at least one item. */
export function oneOrList<S extends TSchema>(item: S): TUnsafe<Type.Static<S> | readonly Type.Static<S>[]> {
  return Type.Unsafe({
    ...item,
    type: ['object', 'array'],
    items: item,
    minItems: 1,
    'x-expected': 'one entry or a list of entries',
  });
}

export function listOf<S extends TSchema>(items: S, minItems: number, description: string) {
  return Type.Array(items, { minItems, description, 'x-expected': 'a list' });
}

/** Duration. `readDuration` converts it to milliseconds. */
export function duration(description: string): TUnsafe<number | string> {
  return Type.Unsafe({
    type: ['integer', 'string'],
    minimum: 1,
    maximum: DAY * 3650,
    pattern: '^(?=.*[1-9])[0-9]{1,7}(\\.[0-9]{1,3})?(ms|s|m|h|d)$',
    description,
    'x-expected': 'a time such as 250ms, 5s, 2m, 1h or 1d, or a whole number of milliseconds, and more than 0',
  });
}

/** Size in bytes. `readSize` converts it to a number. */
export function size(description: string, { minimum = 1 }: { minimum?: number } = {}): TUnsafe<number | string> {
  const least = minimum === 0 ? 'or 0' : 'and more than 0';
  return Type.Unsafe({
    type: ['integer', 'string'],
    minimum,
    maximum: Number.MAX_SAFE_INTEGER,
    pattern: '^(?=.*[1-9])[0-9]{1,5}(\\.[0-9]{1,3})?(B|kB|MB|GB|KiB|MiB|GiB)$',
    description,
    'x-expected': `a size such as 64MiB, 500kB or 1GiB, or a whole number of bytes, ${least}`,
  });
}

/** String of one line; `expected` completes the sentence "must be …". */
export function line(
  description: string,
  options: { readonly pattern?: string; readonly expected?: string } = {},
): TUnsafe<string> {
  const { pattern = '^[^\\u0000-\\u001f\\u007f]+$', expected = 'a text of one line' } = options;
  return Type.Unsafe({ type: 'string', pattern, description, 'x-expected': expected });
}

export function number(
  description: string,
  bounds: { minimum?: number; exclusiveMinimum?: number; maximum?: number } = {},
) {
  return Type.Unsafe<number>({ type: 'number', ...bounds, description, 'x-expected': 'a number' });
}

export function truth(description: string): TUnsafe<boolean> {
  return Type.Unsafe({ type: 'boolean', description, 'x-expected': 'true or false' });
}

export function choice<const V extends readonly string[]>(values: V, description: string): TUnsafe<V[number]> {
  return Type.Unsafe({ type: 'string', enum: values, description, 'x-expected': `one of ${values.join(', ')}` });
}

/** Format version of the file. */
export function format(version: number, description: string): TUnsafe<number> {
  return Type.Unsafe({ type: 'integer', const: version, description, 'x-expected': `${version}` });
}

const forPeople: ReadonlySet<string> = new Set(['description', 'x-expected']);

/** Returns a schema without descriptions for people, with everything that a validator needs. */
export function bare(schema: object): object {
  return withoutWords(schema, forPeople);
}

/** Path of a file. */
export const filePath = (description: string) => line(description, { expected: 'the path of a file' });
