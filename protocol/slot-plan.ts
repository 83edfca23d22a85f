/**
 * Traverses the schema of Status once, at load, and numbers its leaves. The result is a tree that mirrors the document,
 * with a slot at every leaf (the plan that assemble and disassemble follow), and lists of the slots and objects.
 */

import { REACH } from './columns/numbers.ts';
import { defined } from './defined.ts';
import type { SchemaNode, TSchema } from './schema/fields.ts';
import { statusContentsSchema } from './schema/status.ts';

/** A value of Status: the number in the slot's unit, the name of an enumeration, the names of a set, … */
export type SlotValue = number | string | boolean | readonly string[] | object;

/** Type of a value. */
export interface Leaf {
  readonly path: string;
  readonly kind: 'quantity' | 'flag' | 'enumeration' | 'set' | 'text' | 'instant' | 'value';
  readonly unit?: string;
  readonly resolution?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Names of an enumeration or set; the wire carries positions in this list. */
  readonly values?: readonly string[];
  /** True if the string is an ISO 8601 duration. */
  readonly duration?: true;
  /** Maximum length of a string in characters, and the pattern that it must match. */
  readonly maxLength?: number;
  readonly pattern?: string;
}

/** A leaf of Status. A profile maps signals to it by its path; telemetry names it by its id. */
export interface Slot extends Leaf {
  /** Dense, 0 first, in document order. Changes when the schema grows: for memory only. */
  readonly index: number;
  /**
   * Permanent id of the slot on the wire. It consists of the integer keys from Status to the leaf, the position of each
   * identity field's value in its enumeration for an identified array, and the index for a tuple. Each number is
   * written in octal digits, four bits per digit, with the top bit set on all but its last digit; all digits together
   * are the id. Root keys start at 1, so no id begins with a 0 digit and no two leaves have the same id. Example:
   * kinetic (1), speed (1) is 0x11.
   */
  readonly id: number;
  /**
   * Members joined by `.`, entries of identified arrays by their identity, e.g. `energies.Electric.level`,
   * `lightingSystem.turn.LeftFront.status`, `lastPosition.latitude`.
   */
  readonly path: string;
  /** Index of the {@link StatusObject} whose `createdAt` dates the value. */
  readonly object: number;
}

/** A part of Status with one `createdAt`. */
export interface StatusObject {
  /** Dense, 0 first, for memory only. */
  readonly index: number;
  readonly path: string;
}

export type PlanNode = PlanRecord | PlanEntries | PlanTuple | PlanLeaf | PlanConstant | PlanStamp;

export interface PlanRecord {
  readonly kind: 'record';
  /** The object that starts at this node; undefined inside an object and above all objects. */
  readonly object: number | undefined;
  /** True if `createdAt` is a direct field of this record: of the object, or of a flat record in it. */
  readonly stamped: boolean;
  /** True for a flat record that contains its parent's `createdAt`, e.g. the properties of a position. */
  readonly flat: boolean;
  /** Identity of an entry of an identified array. */
  readonly identity: Readonly<Record<string, string>>;
  /** In document order, including `createdAt` and the identity, so that equal contents print equally. */
  readonly members: readonly PlanMember[];
}

export interface PlanMember {
  readonly name: string;
  readonly required: boolean;
  readonly node: PlanNode;
}

/** An identified array: one record for each possible identity. */
export interface PlanEntries {
  readonly kind: 'entries';
  readonly entries: readonly PlanRecord[];
}

export interface PlanTuple {
  readonly kind: 'tuple';
  readonly required: number;
  readonly items: readonly PlanLeaf[];
}

export interface PlanLeaf {
  readonly kind: 'leaf';
  readonly slot: Slot;
}

export interface PlanConstant {
  readonly kind: 'constant';
  readonly value: string;
}

/** Position of `createdAt`. */
export interface PlanStamp {
  readonly kind: 'stamp';
}

/** Current position of the traversal. */
interface Place {
  readonly path: readonly string[];
  readonly keys: readonly number[];
  readonly object: number | undefined;
  /** Identity of the innermost entry. */
  readonly entry: string | undefined;
}

interface Plan {
  readonly root: PlanRecord;
  readonly slots: readonly Slot[];
  readonly objects: readonly StatusObject[];
}

/** Returns the plan. Throws an Error if the schema is invalid: the plan is made at load from a constant. */
function planOf(schema: TSchema): Plan {
  const slots: Slot[] = [];
  const objects: StatusObject[] = [];
  const root = record(schema as SchemaNode, { path: [], keys: [], object: undefined, entry: undefined }, {});
  return { root, slots, objects };

  function record(node: SchemaNode, place: Place, identity: Readonly<Record<string, string>>): PlanRecord {
    const properties = Object.entries(node.properties ?? {});
    const stamped = node.properties?.['createdAt'] !== undefined;
    const begins = node['x-flat'] !== true && (stamped || properties.some(([, member]) => stampedFlat(member)));
    const object = begins ? objects.push({ index: objects.length, path: place.path.join('.') }) - 1 : undefined;
    const inside = { ...place, object: object ?? place.object };
    const members: PlanMember[] = [];
    for (const [name, member] of properties) {
      const value = identity[name];
      const elsewhere = member['x-only'] !== undefined && member['x-only'] !== place.entry;
      const required = node.required?.includes(name) ?? false;
      if (name === 'createdAt') members.push({ name, required, node: { kind: 'stamp' } });
      else if (value !== undefined) members.push({ name, required, node: { kind: 'constant', value } });
      else if (member['x-slot'] !== 'none' && !elsewhere) {
        members.push({ name, required, node: below(name, member, inside) });
      }
    }
    return { kind: 'record', object, stamped, flat: node['x-flat'] === true, identity, members };
  }

  function below(name: string, node: SchemaNode, place: Place): PlanNode {
    if (node.const !== undefined) return { kind: 'constant', value: node.const };
    const next = {
      ...place,
      path: node['x-flat'] === true ? place.path : [...place.path, name],
      keys: [...place.keys, keyOf(name, node)],
    };
    if (node['x-slot'] === 'whole') return leaf(node, next);
    if (node.properties !== undefined) return record(node, next, {});
    if (node['x-identity'] !== undefined) return entries(node.items ?? {}, node['x-identity'], next);
    if (node.prefixItems !== undefined) {
      const items = node.prefixItems.map((item, index) =>
        leaf(item, { ...next, path: [...next.path, item['x-item'] ?? `${index}`], keys: [...next.keys, index] }),
      );
      return { kind: 'tuple', required: node.minItems ?? 0, items };
    }
    return leaf(node, next);
  }

  function entries(item: SchemaNode, names: readonly string[], place: Place): PlanEntries {
    let found: { identity: Record<string, string>; keys: readonly number[] }[] = [{ identity: {}, keys: [] }];
    for (const name of names) {
      const values = item.properties?.[name]?.['x-values'];
      if (values === undefined) throw new Error(`${place.path.join('.')}: the identity ${name} is not an enumeration`);
      found = found.flatMap(({ identity, keys }) =>
        values.map((value, position) => ({ identity: { ...identity, [name]: value }, keys: [...keys, position] })),
      );
    }
    return {
      kind: 'entries',
      entries: found.map(({ identity, keys }) => {
        const entry = Object.values(identity).join('');
        const at = { ...place, path: [...place.path, entry], keys: [...place.keys, ...keys], entry };
        return record(item, at, identity);
      }),
    };
  }

  function leaf(node: SchemaNode, place: Place): PlanLeaf {
    const path = place.path.join('.');
    if (place.object === undefined) throw new Error(`${path}: no object around it has a createdAt`);
    const slot: Slot = { index: slots.length, id: idOf(place.keys), path, object: place.object, ...contentOf(node) };
    slots.push(slot);
    return { kind: 'leaf', slot };
  }
}

function stampedFlat(node: SchemaNode): boolean {
  return node['x-flat'] === true && node.properties?.['createdAt'] !== undefined;
}

function keyOf(name: string, node: SchemaNode): number {
  const key = node['x-key'];
  if (key === undefined) throw new Error(`the member ${name} has no integer key`);
  return key;
}

type Content = Omit<Slot, 'index' | 'id' | 'path' | 'object'>;

function contentOf(node: SchemaNode): Content {
  if (node['x-slot'] === 'whole') return { kind: 'value' };
  if (node['x-values'] !== undefined) return { kind: 'enumeration', values: node['x-values'] };
  // Range of telemetry, which ends in the year 73326.
  if (node['x-instant'] === true) return { kind: 'instant', unit: 'ms', resolution: 1, minimum: 0, maximum: REACH };
  if (node['x-resolution'] !== undefined) {
    return {
      kind: 'quantity',
      resolution: node['x-resolution'],
      ...defined({ unit: node['x-unit'], minimum: node.minimum, maximum: node.maximum }),
    };
  }
  if (node.type === 'boolean') return { kind: 'flag' };
  if (node.type === 'string') {
    return {
      kind: 'text',
      ...(node['x-duration'] === true ? { duration: true as const } : {}),
      ...defined({ maxLength: node.maxLength, pattern: node.pattern }),
    };
  }
  const names = node.items?.['x-values'];
  return names === undefined ? { kind: 'value' } : { kind: 'set', values: names };
}

/** See {@link Slot.id}. */
function idOf(keys: readonly number[]): number {
  let id = 0;
  for (const key of keys) {
    const digits = key.toString(8);
    for (let index = 0; index < digits.length; index++) {
      id = id * 16 + Number(digits[index]) + (index < digits.length - 1 ? 8 : 0);
    }
  }
  if (!Number.isSafeInteger(id)) throw new Error(`the way ${keys.join(', ')} is too long for an id`);
  return id;
}

export const plan: Plan = planOf(statusContentsSchema);
