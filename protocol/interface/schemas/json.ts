/** Schemas of the HTTP interface as plain JSON Schema 2020-12, and conversions between them. */
import type { TSchema } from 'typebox';

/** Keywords that the schemas of this folder use. A schema with a title is a component of the OpenAPI document. */
export interface JsonSchema extends TSchema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly additionalProperties?: boolean;
  readonly deprecated?: boolean;
}

type Members = Readonly<Record<string, JsonSchema>>;

/** Returns an object schema; undeclared fields are allowed everywhere. */
export function object(
  title: string,
  description: string,
  required: readonly string[],
  properties: Members,
): JsonSchema {
  return { title, type: 'object', description, properties, ...(required.length === 0 ? {} : { required }) };
}

/** Returns the object with additional fields and another title. */
export function extended(
  base: JsonSchema,
  title: string,
  properties: Members,
  required: readonly string[] = [],
): JsonSchema {
  return {
    ...base,
    title,
    properties: { ...base.properties, ...properties },
    required: [...new Set([...(base.required ?? []), ...required])],
  };
}

/** Returns the object without some fields. */
export function without(base: JsonSchema, ...names: readonly string[]): JsonSchema {
  const { properties = {}, required = [], ...rest } = base;
  const kept = required.filter((name) => !names.includes(name));
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name))),
    ...(kept.length === 0 ? {} : { required: kept }),
  };
}

export const array = (items: JsonSchema, description: string, rest: JsonSchema = {}): JsonSchema => ({
  type: 'array',
  items,
  description,
  ...rest,
});
export const string = (description: string, rest: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  description,
  ...rest,
});
export const integer = (description: string, rest: JsonSchema = {}): JsonSchema => ({
  type: 'integer',
  description,
  ...rest,
});
export const number = (description: string, rest: JsonSchema = {}): JsonSchema => ({
  type: 'number',
  description,
  ...rest,
});
export const boolean = (description: string, rest: JsonSchema = {}): JsonSchema => ({
  type: 'boolean',
  description,
  ...rest,
});
export const dateTime = (description: string): JsonSchema => ({ type: 'string', format: 'date-time', description });

export const deprecated = (schema: JsonSchema): JsonSchema => ({ ...schema, deprecated: true });
