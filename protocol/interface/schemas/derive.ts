/** Derives the schema of a message's body for the HTTP interface, so that no resource is defined twice. */
import type { SchemaNode, TSchema } from '../../schema/fields.ts';
import type { JsonSchema } from './json.ts';

export interface DeriveOptions {
  /** Omits `createdAt` from every object, as telemetry does; `Base` is appended to the titles of changed objects. */
  readonly undated?: boolean;
}

/**
 * Returns a copy in which instants are RFC 3339 strings, tuples are arrays of numbers, the unit is in the description,
 * and no annotation remains. Omits byte strings: they exist only on MQTT.
 */
export function derived(schema: TSchema, options: DeriveOptions = {}): JsonSchema {
  return derive(schema as SchemaNode, options);
}

function derive(schema: SchemaNode, options: DeriveOptions): JsonSchema {
  const description = described(schema);
  if (schema['x-instant'] === true) return { type: 'string', format: 'date-time', ...description };
  if (schema.prefixItems !== undefined) {
    const { minItems = 0, maxItems = schema.prefixItems.length } = schema;
    return { type: 'array', items: { type: 'number' }, minItems, maxItems, ...description };
  }
  if (schema.properties !== undefined) return deriveObject(schema, schema.properties, options);
  const plain = Object.fromEntries(
    Object.entries(schema).filter(([word]) => !word.startsWith('x-') && word !== 'const'),
  );
  return {
    ...plain,
    ...description,
    ...(schema.const === undefined ? {} : { enum: [schema.const] }),
    ...(schema.items === undefined ? {} : { items: derive(schema.items, options) }),
  };
}

function deriveObject(
  { title, required = [], ...schema }: SchemaNode,
  properties: Readonly<Record<string, SchemaNode>>,
  options: DeriveOptions,
): JsonSchema {
  const members: Record<string, JsonSchema> = {};
  for (const [name, member] of Object.entries(properties)) {
    if (member['x-bytes'] === true || (options.undated === true && name === 'createdAt')) continue;
    members[name] = derive(member, options);
  }
  const kept = required.filter((name) => Object.hasOwn(members, name));
  const changed = options.undated === true && isDated(properties);
  return {
    ...(title === undefined ? {} : { title: changed ? `${title}Base` : title }),
    type: 'object',
    ...described(schema),
    properties: members,
    ...(kept.length === 0 ? {} : { required: kept }),
  };
}

function isDated(properties: Readonly<Record<string, SchemaNode>>): boolean {
  return Object.entries(properties).some(([name, member]) => {
    const inner = member.properties ?? member.items?.properties;
    return name === 'createdAt' || (inner !== undefined && isDated(inner));
  });
}

function described({ description, 'x-unit': unit, 'x-instant': instant }: SchemaNode): { description?: string } {
  if (description === undefined) return {};
  return {
    description: unit === undefined || unit === '1' || instant === true ? description : `${description} Unit: ${unit}.`,
  };
}
