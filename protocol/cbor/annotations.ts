import { VigieError } from '../errors.ts';
import type { SchemaNode, TSchema } from '../schema/fields.ts';

/** Annotations of a schema (protocol/schema/fields.ts), from which the codec and the CDDL are derived. */
export type Annotated =
  | { readonly kind: 'record'; readonly name: string | undefined; readonly members: readonly MapMember[] }
  | { readonly kind: 'list'; readonly items: Annotated; readonly minItems: number; readonly maxItems: number }
  | { readonly kind: 'tuple'; readonly items: readonly Annotated[]; readonly required: number }
  | {
      readonly kind: 'quantity';
      readonly unit: string;
      /** 0: sent as a float. */
      readonly resolution: number;
      /** Infinite if there is no bound. */
      readonly minimum: number;
      readonly maximum: number;
    }
  | { readonly kind: 'enumeration'; readonly values: readonly string[] }
  | { readonly kind: 'instant' }
  | { readonly kind: 'flag' }
  | { readonly kind: 'text'; readonly maxLength: number; readonly pattern: string | undefined }
  | { readonly kind: 'bytes'; readonly maxLength: number; readonly coding: string | undefined }
  | { readonly kind: 'constant'; readonly value: string };

export interface MapMember {
  readonly name: string;
  /** Integer key on the wire. */
  readonly key: number;
  readonly required: boolean;
  readonly schema: Annotated;
}

/**
 * Returns the annotations of a schema. Throws `configuration.wrong` with the place in the schema if they do not define
 * the wire form: a field without key, two fields with one key, a type that fields.ts does not have.
 */
export function annotated(schema: TSchema): Annotated {
  const keywords = schema as SchemaNode;
  return read(keywords, keywords.title ?? 'schema');
}

function read(schema: SchemaNode, where: string): Annotated {
  const { minItems = 0, maxItems = Infinity, maxLength = Infinity } = schema;
  if (schema['x-values'] !== undefined) return { kind: 'enumeration', values: distinct(schema['x-values'], where) };
  if (schema['x-instant']) return { kind: 'instant' };
  if (schema['x-bytes']) return { kind: 'bytes', maxLength, coding: schema['x-coding'] };
  if (schema['x-constant'] && schema.const !== undefined) return { kind: 'constant', value: schema.const };
  if (schema['x-resolution'] !== undefined) {
    const { minimum = -Infinity, maximum = Infinity, 'x-resolution': resolution, 'x-unit': unit = '1' } = schema;
    if (resolution >= 0 && resolution < Infinity) return { kind: 'quantity', unit, resolution, minimum, maximum };
    throw new VigieError('configuration.wrong', `schema ${where} has the resolution ${resolution}`);
  }
  if (schema.prefixItems !== undefined) {
    const items = schema.prefixItems.map((item, index) => read(item, `${where}[${index}]`));
    return { kind: 'tuple', items, required: minItems };
  }
  if (schema.type === 'array' && schema.items !== undefined) {
    return { kind: 'list', items: read(schema.items, `${where}[]`), minItems, maxItems };
  }
  if (schema.type === 'object' && schema.properties !== undefined) {
    return { kind: 'record', name: schema.title, members: members(schema, where) };
  }
  if (schema.type === 'boolean') return { kind: 'flag' };
  if (schema.type === 'string') return { kind: 'text', maxLength, pattern: schema.pattern };
  throw new VigieError('configuration.wrong', `schema ${where} has no annotation that gives it a form on the wire`);
}

function members(schema: SchemaNode, where: string): MapMember[] {
  const byKey = new Map<number, string>();
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const key = property['x-key'];
    if (key === undefined || !Number.isSafeInteger(key) || key < 0 || key > 0xffff_ffff) {
      throw new VigieError('configuration.wrong', `schema ${where}.${name} has no x-key of 0 to 2^32-1`);
    }
    const other = byKey.get(key);
    if (other !== undefined) {
      throw new VigieError('configuration.wrong', `schema ${where}.${name} has the x-key ${key} of ${other}`);
    }
    byKey.set(key, name);
    return {
      name,
      key,
      required: schema.required?.includes(name) ?? false,
      schema: read(property, `${where}.${name}`),
    };
  });
}

function distinct(values: readonly string[], where: string): readonly string[] {
  if (new Set(values).size === values.length) return values;
  throw new VigieError('configuration.wrong', `schema ${where} names a value twice`);
}
