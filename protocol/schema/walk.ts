/** Traversal of schemas, of the wire or of JSON: their parts, and the part that a value matches. */

/** Keywords that contain schemas. */
interface SchemaParts<S> {
  readonly properties?: Readonly<Record<string, S>>;
  readonly items?: S;
  readonly prefixItems?: readonly S[];
  readonly anyOf?: readonly S[];
  readonly additionalProperties?: S | boolean;
  readonly propertyNames?: S;
}

/** Returns a copy with each direct subschema replaced by the result of `change`; `name` is that of a property. */
export function mapParts<S extends SchemaParts<S>>(schema: S, change: (part: S, name?: string) => S): S {
  const { properties, items, prefixItems, anyOf, additionalProperties, propertyNames } = schema;
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: mapMembers(properties, change) }),
    ...(items === undefined ? {} : { items: change(items) }),
    ...(prefixItems === undefined ? {} : { prefixItems: prefixItems.map((part) => change(part)) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((part) => change(part)) }),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: change(additionalProperties) } : {}),
    ...(propertyNames === undefined ? {} : { propertyNames: change(propertyNames) }),
  };
}

/** Like {@link mapParts}, but only for properties. */
export function mapMembers<S, T>(
  properties: Readonly<Record<string, S>>,
  change: (member: S, name: string) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, change(member, name)]));
}

/** Returns the direct subschemas. */
export function partsOf<S extends SchemaParts<S>>(schema: S): S[] {
  const parts: S[] = [];
  mapParts(schema, (part) => {
    parts.push(part);
    return part;
  });
  return parts;
}

/** Returns a copy without the keywords in `words`, at any depth. */
export function withoutWords<S extends SchemaParts<S>>(schema: S, words: ReadonlySet<string>): S {
  const kept = Object.fromEntries(Object.entries(schema).filter(([word]) => !words.has(word))) as S;
  return mapParts(kept, (part) => withoutWords(part, words));
}

/** Returns the schema of a property of an object, or of an entry of a list. */
export function partAt<S extends SchemaParts<S>>(
  schema: S | undefined,
  value: unknown,
  key: string | number,
): S | undefined {
  if (Array.isArray(value)) return schema?.items ?? schema?.prefixItems?.[Number(key)];
  const { properties, additionalProperties } = schema ?? {};
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Returns a copy of `value` with each property or entry replaced by the result of `change`, called with its schema. */
export function mapValue<S extends SchemaParts<S>>(
  schema: S | undefined,
  value: object,
  change: (part: S | undefined, member: unknown, key: string | number) => unknown,
): unknown {
  if (Array.isArray(value)) return value.map((entry, index) => change(partAt(schema, value, index), entry, index));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, change(partAt(schema, value, name), member, name)]),
  );
}
