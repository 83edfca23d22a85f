/** Reads similar records from their columns (columns/rows.ts), without a map for each, as quick.ts does. */
import { NumberReader, REACH } from '../columns/numbers.ts';
import { ROWS } from '../columns/rows.ts';
import type { TSchema } from '../schema/fields.ts';
import { annotated, type MapMember } from './annotations.ts';
import { nodeOf } from './codec.ts';
import { UNUSUAL } from './item-cursor.ts';
import { UNKNOWN } from './scalars.ts';
import type { Wire } from './wire.ts';

/** Reads columns into records of a schema with members that are integers on the wire or flags. */
export type ColumnsReader = (columns: Uint8Array, wire: Wire) => unknown[];

interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly decode: (count: number, wire: Wire) => unknown;
}

/** Returns the reader for a record with members in ascending order of their keys. */
export function columnsReader(schema: TSchema): ColumnsReader {
  const node = annotated(schema);
  const members = node.kind === 'record' ? node.members : [];
  const fields = new Map(members.map((member): [number, Field] => [member.key, fieldOf(member)]));
  const needed = members.filter(({ required }) => required).length;
  return (columns, wire) => {
    const reader = new NumberReader(columns);
    const size = reader.unsigned();
    if (size > ROWS) throw UNUSUAL;
    const records: Record<string, unknown>[] = [];
    for (let row = 0; row < size; row++) records.push({});
    let last = -1;
    let required = 0;
    for (let left = reader.unsigned(); left > 0; left--) {
      const key = reader.unsigned();
      const field = fields.get(key);
      if (field === undefined || key <= last) throw UNUSUAL;
      last = key;
      const having = readRuns(records, reader);
      if (field.required && having.length < size) throw UNUSUAL;
      if (field.required) required++;
      readColumn(having, field, reader, wire);
    }
    if (required < needed || reader.left > 0) throw UNUSUAL;
    return records;
  };
}

function fieldOf({ name, required, schema }: MapMember): Field {
  const decode = schema.kind === 'flag' ? (count: number) => count === 1 : nodeOf(schema).decode;
  return { name, required, decode };
}

function readColumn(having: readonly Record<string, unknown>[], field: Field, reader: NumberReader, wire: Wire): void {
  if (having.length === 0) return;
  const { name, decode } = field;
  const step = reader.unsigned();
  if (step === 0) throw UNUSUAL;
  let count = 0;
  for (let index = 0; index < having.length; index++) {
    count += reader.signed() * (index === 0 ? 1 : step);
    const value = decode(count, wire);
    if (Math.abs(count) > REACH || value === UNKNOWN) throw UNUSUAL;
    having[index]![name] = value;
  }
}

/** Returns the records that have the current member: for most members, all records. */
function readRuns(records: Record<string, unknown>[], reader: NumberReader): readonly Record<string, unknown>[] {
  let told = 0;
  const having: Record<string, unknown>[] = [];
  for (let present = true; told < records.length; present = !present) {
    const run = reader.unsigned();
    if (run > records.length - told) throw UNUSUAL;
    if (run === records.length && present) return records;
    if (present) for (let row = told; row < told + run; row++) having.push(records[row]!);
    told += run;
  }
  return having;
}
