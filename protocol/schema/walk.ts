/** The one way through a schema, of the wire or of JSON: what it is made of, and which part a value follows. */

/** The words that have schemas in them. */
interface SchemaParts<S> {
  readonly properties?: Readonly<Record<string, S>>;
  readonly items?: S;
  readonly prefixItems?: readonly S[];
  readonly anyOf?: readonly S[];
  readonly additionalProperties?: S | boolean;
  readonly propertyNames?: S;
}

/** A copy in which each schema directly below is what `change` makes of it; `name` is that of a member. */
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

/** As {@link mapParts}, of members alone. */
export function mapMembers<S, T>(
  properties: Readonly<Record<string, S>>,
  change: (member: S, name: string) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, change(member, name)]));
}

/** The schemas directly below. */
export function partsOf<S extends SchemaParts<S>>(schema: S): S[] {
  const parts: S[] = [];
  mapParts(schema, (part) => {
    parts.push(part);
    return part;
  });
  return parts;
}

/** A copy without `words`, anywhere in it. */
export function withoutWords<S extends SchemaParts<S>>(schema: S, words: ReadonlySet<string>): S {
  const kept = Object.fromEntries(Object.entries(schema).filter(([word]) => !words.has(word))) as S;
  return mapParts(kept, (part) => withoutWords(part, words));
}

/** Schema of a member of an object, or of an entry of a list. */
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

/** A copy of `value` in which each member or entry is what `change` makes of it, with the schema it follows. */
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
