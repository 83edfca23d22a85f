/**
 * The codec that a schema's annotations describe (protocol/schema/fields.ts): built once at load, with one closure per
 * member, and without generating code from strings.
 *
 *     record       map with the members' integer keys, ascending; omits absent members and constants
 *     enumeration  position in the list of names
 *     quantity     integer count of the resolution; resolution 0: shortest exact float
 *     instant      integer milliseconds before the message's `at`, negative when after it
 *     list, tuple  array
 */
import type { Static, TSchema } from '../schema/fields.ts';
import { type Annotated, annotated } from './annotations.ts';
import { MAJOR } from './head.ts';
import { ItemWriter } from './item-writer.ts';
import {
  byteString,
  type CodecOptions,
  constant,
  enumeration,
  flag,
  float,
  instant,
  type Node,
  quantity,
  type ScalarKind,
  text,
  UNKNOWN,
} from './scalars.ts';
import { parse, Wire } from './wire.ts';

/** Encoder and decoder of one schema. All faults are thrown as `message.malformed` naming the member and the rule. */
export interface Codec<T> {
  /** Returns the deterministic encoding (RFC 8949 section 4.2.1); `base` is the message's `at`, UTC milliseconds. */
  encode(value: T, base: number): Uint8Array;
  /** Ignores keys that the schema does not have. Check bounds first if the bytes are from an untrusted source. */
  decode(bytes: Uint8Array, base: number): T;
  /** Decodes the result of {@link parse}, for messages that are read in two steps. */
  fromTree(tree: unknown, wire: Wire): T;
}

/** Shared writer: messages are written one after the other. After a fault, an item may be half written. */
const written = new ItemWriter();

/** Builds the codec of `schema`. Throws `configuration.wrong` if its annotations are incomplete. */
export function compile<S extends TSchema>(
  schema: S,
  options: CodecOptions = { unknownValues: 'drop' },
): Codec<Static<S>> {
  const node = nodeOf(annotated(schema), options);
  const fromTree = (tree: unknown, wire: Wire): Static<S> => {
    const value = node.decode(tree, wire);
    if (value === UNKNOWN) throw wire.fault('has a required member whose value this version does not know');
    return value as Static<S>;
  };
  return {
    encode(value, base) {
      written.clear();
      node.encode(value, new Wire(base), written);
      return written.written.slice();
    },
    decode: (bytes, base) => fromTree(parse(bytes), new Wire(base)),
    fromTree,
  };
}

/** Returns encoder and decoder of one node; throws as {@link compile}. */
export function nodeOf(schema: Annotated, options: CodecOptions = { unknownValues: 'drop' }): Node {
  switch (schema.kind) {
    case 'record':
      return record(schema, options);
    case 'list':
      return list(schema, options);
    case 'tuple':
      return tuple(schema, options);
    case 'quantity':
      return schema.resolution === 0 ? float(schema) : quantity(schema);
    case 'enumeration':
      return enumeration(schema.values, options);
    case 'instant':
      return instant;
    case 'flag':
      return flag;
    case 'text':
      return text(schema);
    case 'bytes':
      return byteString(schema);
    case 'constant':
      return constant(schema.value);
  }
}

/** Loops by index: a Status has hundreds of members, and an iterator allocates for each until the loop is optimised. */
function record(schema: ScalarKind<'record'>, options: CodecOptions): Node {
  const members = schema.members.map((member) => ({
    ...member,
    constant: member.schema.kind === 'constant',
    node: nodeOf(member.schema, options),
  }));
  const byKey = members.toSorted((a, b) => a.key - b.key);
  return {
    encode(value, wire, out) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wire.fault('must be an object');
      const source = value as Readonly<Record<string, unknown>>;
      let size = 0;
      for (let i = 0; i < byKey.length; i++) if (!byKey[i]!.constant && source[byKey[i]!.name] !== undefined) size++;
      out.head(MAJOR.map, size);
      for (let i = 0; i < byKey.length; i++) {
        const { name, key, required, constant, node } = byKey[i]!;
        const member = source[name];
        if (member === undefined) {
          if (required && !constant) throw wire.fault(`must have the member ${name}`);
          continue;
        }
        wire.path.push(name);
        if (!constant) out.head(MAJOR.unsigned, key);
        node.encode(member, wire, out);
        wire.path.pop();
      }
    },
    decode(tree, wire) {
      if (!(tree instanceof Map)) throw wire.fault('must be a map');
      const value: Record<string, unknown> = {};
      let unknown = false;
      for (const { name, key, required, constant, node } of members) {
        const encoded: unknown = constant ? undefined : tree.get(key);
        if (encoded === undefined && !constant) {
          if (required) throw wire.fault(`must have the member ${name} (key ${key})`);
          continue;
        }
        wire.path.push(name);
        const member = node.decode(encoded, wire);
        wire.path.pop();
        if (member !== UNKNOWN) value[name] = member;
        else if (required) unknown = true;
      }
      return unknown ? UNKNOWN : value;
    },
  };
}

function list(schema: ScalarKind<'list'>, options: CodecOptions): Node {
  const { minItems, maxItems } = schema;
  const node = nodeOf(schema.items, options);
  const check = (value: unknown, wire: Wire): readonly unknown[] => {
    if (!Array.isArray(value)) throw wire.fault('must be an array');
    if (value.length < minItems) throw wire.fault(`must have at least ${minItems} entries, has ${value.length}`);
    if (value.length > maxItems) throw wire.fault(`must have at most ${maxItems} entries, has ${value.length}`);
    return value;
  };
  return {
    encode(value, wire, out) {
      const entries = check(value, wire);
      out.head(MAJOR.array, entries.length);
      each(entries, wire, (entry) => node.encode(entry, wire, out));
    },
    decode: (tree, wire) =>
      each(check(tree, wire), wire, (entry) => node.decode(entry, wire)).filter((entry) => entry !== UNKNOWN),
  };
}

function tuple(schema: ScalarKind<'tuple'>, options: CodecOptions): Node {
  const nodes = schema.items.map((item) => nodeOf(item, options));
  const check = (value: unknown, wire: Wire): readonly unknown[] => {
    const size = Array.isArray(value) ? value.length : -1;
    if (size >= schema.required && size <= nodes.length) return value as readonly unknown[];
    throw wire.fault(`must be an array of ${schema.required} to ${nodes.length} entries`);
  };
  return {
    encode(value, wire, out) {
      const entries = check(value, wire);
      out.head(MAJOR.array, entries.length);
      each(entries, wire, (entry, index) => nodes[index]!.encode(entry, wire, out));
    },
    decode(tree, wire) {
      const value = each(check(tree, wire), wire, (entry, index) => nodes[index]!.decode(entry, wire));
      return value.includes(UNKNOWN) ? UNKNOWN : value;
    },
  };
}

/** Also visits the holes of a sparse array, which `map` would skip. */
function each(values: readonly unknown[], wire: Wire, step: (value: unknown, index: number) => unknown): unknown[] {
  const results: unknown[] = [];
  for (let index = 0; index < values.length; index++) {
    wire.path.push(index);
    results.push(step(values[index], index));
    wire.path.pop();
  }
  return results;
}
