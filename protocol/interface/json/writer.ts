import type { SchemaNode, TSchema } from '../../schema/fields.ts';
import { dateTime } from './date-time.ts';

/** A JSON object under construction. */
export type Members = Record<string, unknown>;

/** Returns a copy of the fields that match the schema. */
type Writer = (value: unknown) => unknown;

/**
 * Returns a function that writes values of a schema as JSON: times as {@link dateTime}, all else unchanged. Omits byte
 * strings. The schema is analysed once.
 */
export function writerOf<T extends object>(schema: TSchema): (value: T) => Members {
  return (writer(schema as SchemaNode) ?? ((value) => ({ ...(value as object) }))) as (value: T) => Members;
}

/** Returns undefined if the value needs no change. */
function writer(node: SchemaNode): Writer | undefined {
  if (node['x-instant'] === true) return (value) => dateTime(value as number);
  if (node['x-bytes'] === true) return () => undefined;
  if (node.items !== undefined) {
    const items = writer(node.items);
    return items && ((value) => (value as unknown[]).map(items));
  }
  const changed = new Map<string, Writer>();
  for (const [name, member] of Object.entries(node.properties ?? {})) {
    const write = writer(member);
    if (write !== undefined) changed.set(name, write);
  }
  if (changed.size === 0) return undefined;
  return (value) => {
    const result: Members = {};
    for (const [name, member] of Object.entries(value as object)) {
      const write = changed.get(name);
      result[name] = write === undefined ? member : write(member);
    }
    return result;
  };
}
