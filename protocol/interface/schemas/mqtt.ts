/** A schema as the AsyncAPI document shows it: JSON Schema draft 7 with the annotations of the wire. */
import type { SchemaNode, TSchema } from '../../schema/fields.ts';

/** A copy without what is not JSON; tuples are written as draft 7 does, bytes are named in `x-bytes`. */
export function mqttSchema(schema: TSchema): object {
  return copy(schema as SchemaNode);
}

function copy({ properties, items, prefixItems, ...rest }: SchemaNode): object {
  const members = Object.entries(properties ?? {}).map(([name, member]) => [name, copy(member)]);
  return {
    ...rest,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(members) }),
    ...(items === undefined ? {} : { items: copy(items) }),
    ...(prefixItems === undefined ? {} : { items: prefixItems.map(copy) }),
  };
}
