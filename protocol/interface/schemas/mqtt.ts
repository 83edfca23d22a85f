/** Schemas for the AsyncAPI document: JSON Schema draft 7 with the annotations of the wire form. */
import type { SchemaNode, TSchema } from '../../schema/fields.ts';
import { mapParts } from '../../schema/walk.ts';

/** Returns a copy with only JSON types; tuples are written as in draft 7, byte strings are listed in `x-bytes`. */
export function mqttSchema(schema: TSchema): object {
  return copy(schema as SchemaNode);
}

function copy(schema: SchemaNode): SchemaNode {
  const { prefixItems, ...rest } = mapParts(schema, copy);
  return prefixItems === undefined ? rest : { ...rest, items: prefixItems as unknown as SchemaNode };
}
