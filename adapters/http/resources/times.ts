/** Moments as the interface writes them: RFC 3339, UTC, with milliseconds. */
import type { TSchema } from '../../../protocol/schema/fields.ts';

/** Moments written lately: a state that is read again and again has the same ones. */
const written = new Map<number, string>();
const MOST = 1_024;

/** `at` is UTC ms. */
export function dateTime(at: number): string {
  const known = written.get(at);
  if (known !== undefined) return known;
  const text = new Date(at).toISOString();
  if (written.size >= MOST) written.clear();
  written.set(at, text);
  return text;
}

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly 'x-instant'?: boolean;
  readonly 'x-bytes'?: boolean;
}

/** Gives a copy of what follows the schema. */
type Writer = (value: unknown) => unknown;

/**
 * How values of a schema are written in JSON: moments as {@link dateTime}, all else as it is. What is bytes is left
 * out. The way through the schema is worked out once.
 */
export function writerOf<T extends object>(schema: TSchema): (value: T) => Record<string, unknown> {
  return (writer(schema as Node) ?? ((value) => ({ ...(value as object) }))) as (value: T) => Record<string, unknown>;
}

/** Undefined: nothing in it is to be changed. */
function writer(node: Node): Writer | undefined {
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
    const result: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value as object)) {
      const write = changed.get(name);
      result[name] = write === undefined ? member : write(member);
    }
    return result;
  };
}
