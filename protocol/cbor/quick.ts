/**
 * Decoders that read the form of messages that encoders write, directly from the bytes. In one pass they check what the
 * plain decoder checks in four (bounds, integers put back into their shape, a tree, its schema). They reject any other
 * form, and then the plain decoder of message.ts reads the message or names its fault: it alone defines which messages
 * are valid, and the text of errors.
 */

import type { TSchema } from '../schema/fields.ts';
import { type Annotated, annotated, type MapMember } from './annotations.ts';
import { nodeOf } from './codec.ts';
import { type ItemCursor, UNUSUAL } from './item-cursor.ts';
import { type ScalarKind, UNKNOWN } from './scalars.ts';
import type { Wire } from './wire.ts';

/** Reads one value. @throws VigieError if the plain decoder must read it */
export type QuickReader = (cursor: ItemCursor, wire: Wire) => unknown;

export function quickReader(schema: TSchema): QuickReader {
  return readerOf(annotated(schema));
}

function readerOf(schema: Annotated): QuickReader {
  switch (schema.kind) {
    case 'record':
      return record(schema);
    case 'list': {
      const { minItems, maxItems } = schema;
      const read = readerOf(schema.items);
      return (cursor, wire) => entries(cursor, wire, minItems, maxItems, () => read);
    }
    case 'tuple': {
      const readers = schema.items.map(readerOf);
      return (cursor, wire) => entries(cursor, wire, schema.required, readers.length, (index) => readers[index]!);
    }
    case 'quantity':
      return schema.resolution === 0
        ? scalar(schema, (cursor) => cursor.float())
        : scalar(schema, (cursor) => cursor.integer());
    case 'enumeration':
    case 'instant':
      return scalar(schema, (cursor) => cursor.integer());
    case 'flag':
      return (cursor) => cursor.flag();
    case 'text':
      return scalar(schema, (cursor) => cursor.text());
    case 'bytes':
      return scalar(schema, (cursor) => cursor.bytes());
    case 'constant':
      return () => schema.value;
  }
}

/** Returns a reader of one item with the checks of the plain decoder. */
function scalar(schema: Annotated, item: (cursor: ItemCursor) => unknown): QuickReader {
  const node = nodeOf(schema);
  return (cursor, wire) => {
    const value = node.decode(item(cursor), wire);
    if (value === UNKNOWN) throw UNUSUAL;
    return value;
  };
}

function entries(
  cursor: ItemCursor,
  wire: Wire,
  least: number,
  most: number,
  reader: (index: number) => QuickReader,
): unknown[] {
  const size = cursor.array();
  if (size < least || size > most) throw UNUSUAL;
  const values: unknown[] = [];
  for (let index = 0; index < size; index++) values.push(reader(index)(cursor, wire));
  return values;
}

function record({ members }: ScalarKind<'record'>): QuickReader {
  const travelling = members.filter(({ schema }) => schema.kind !== 'constant');
  const byKey: ({ readonly name: string; readonly required: boolean; readonly read: QuickReader } | undefined)[] = [];
  for (const { key, name, required, schema } of travelling) {
    if (key < 256) byKey[key] = { name, required, read: readerOf(schema) };
  }
  const needed = travelling.filter(({ required }) => required).length;
  const finish = inOrder(members);
  return (cursor, wire) => {
    const value: Record<string, unknown> = {};
    let last = -1;
    let required = 0;
    for (let left = cursor.map(); left > 0; left--) {
      const key = cursor.key();
      const member = byKey[key];
      // Ascending keys are distinct.
      if (member === undefined || key <= last) throw UNUSUAL;
      last = key;
      value[member.name] = member.read(cursor, wire);
      if (member.required) required++;
    }
    if (required < needed) throw UNUSUAL;
    return finish(value);
  };
}

/** Returns a function that sorts members read by their keys into schema order, and inserts the constants. */
function inOrder(members: readonly MapMember[]): (value: Record<string, unknown>) => Record<string, unknown> {
  const ascending = members.every(({ key }, index) => index === 0 || key > members[index - 1]!.key);
  if (ascending && members.every(({ schema }) => schema.kind !== 'constant')) return (value) => value;
  const fields = members.map(({ name, schema }) => ({
    name,
    constant: schema.kind === 'constant' ? schema.value : undefined,
  }));
  return (value) => {
    const ordered: Record<string, unknown> = {};
    for (const { name, constant } of fields) {
      const member = constant ?? value[name];
      if (member !== undefined) ordered[name] = member;
    }
    return ordered;
  };
}
