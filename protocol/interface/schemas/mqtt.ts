/** A schema as the AsyncAPI document shows it: JSON Schema draft 7 with the annotations of the wire. */
import type { SchemaNode, TSchema } from '../../schema/fields.ts';
import { mapParts } from '../../schema/walk.ts';

/** A copy without what is not JSON; tuples are written as draft 7 does, bytes are named in `x-bytes`. */
export function mqttSchema(schema: TSchema): object {
  return copy(schema as SchemaNode);
}

function copy(schema: SchemaNode): SchemaNode {
  const { prefixItems, ...rest } = mapParts(schema, copy);
  return prefixItems === undefined ? rest : { ...rest, items: prefixItems as unknown as SchemaNode };
}
