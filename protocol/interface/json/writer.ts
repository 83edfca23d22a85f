import type { SchemaNode, TSchema } from '../../schema/fields.ts';
import { dateTime } from './date-time.ts';

/** An object of JSON while it is being made. */
export type Members = Record<string, unknown>;

/** Returns a copy of the members that match the schema. */
type Writer = (value: unknown) => unknown;

/**
 * How values of a schema are written in JSON: moments as {@link dateTime}, all else as it is. Members that are bytes are
 * left out. The way through the schema is worked out once.
 */
export function writerOf<T extends object>(schema: TSchema): (value: T) => Members {
  return (writer(schema as SchemaNode) ?? ((value) => ({ ...(value as object) }))) as (value: T) => Members;
}

/** Undefined: nothing in it is to be changed. */
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
