/**
 * Status as a list of slots, and conversions between that list and the document. Both directions follow the plan of the
 * schema; `autonomy`, a sum, is the only field that they handle by name.
 */
import type { StatusContents } from './schema/status.ts';
import {
  type Leaf,
  type PlanMember,
  type PlanNode,
  type PlanRecord,
  plan,
  type Slot,
  type SlotValue,
  type StatusObject,
} from './slot-plan.ts';

export type { Leaf, Slot, SlotValue };

/** All leaves of Status, in document order; `slots[n].index === n`. */
export const slots: readonly Slot[] = plan.slots;

/** All parts of Status with a `createdAt`; `statusObjects[n].index === n`. */
export const statusObjects: readonly StatusObject[] = plan.objects;

export const slotByPath: ReadonlyMap<string, Slot> = new Map(slots.map((slot) => [slot.path, slot]));

/** Returns the slot of a path that the schema contains; for other paths use {@link slotByPath}. */
export const slotAt = (path: string): Slot => slotByPath.get(path) as Slot;
export const slotById: ReadonlyMap<number, Slot> = new Map(slots.map((slot) => [slot.id, slot]));

/** Slots whose sum is the range of the car: `autonomy`. */
const autonomies = slots.filter((slot) => /^energies\.[^.]+\.autonomy$/.test(slot.path));

interface Assembly {
  readonly values: ReadonlyArray<SlotValue | undefined>;
  readonly createdAt: ArrayLike<number>;
  readonly only: ReadonlySet<number> | undefined;
  /** Nodes of the plan that contain the objects of `only`; the other nodes add nothing. */
  readonly ways: ReadonlySet<PlanNode> | undefined;
  /** Number of leaves placed so far: an object that added no leaf is empty and omitted. */
  placed: number;
  /** Newest createdAt placed since the start of the enclosing object. */
  newest: number;
}

/**
 * Returns the Status tree of all slot values (by index) and the createdAt of all objects (by index, UTC ms, NaN:
 * never), or only those of the objects in `only`. Omits empty objects, objects that never got a createdAt, and
 * objects that lack a field required by the interface, such as a position without longitude. An object inside another
 * one (a battery in an energy) includes its parents; these get its createdAt if they have none. `autonomy` is at the
 * end of a tree with energies. Array entries are in the order of their identities, fields in that of the schema.
 * A createdAt is rounded to whole milliseconds.
 */
export function assemble(
  values: ReadonlyArray<SlotValue | undefined>,
  createdAt: ArrayLike<number>,
  only?: ReadonlySet<number>,
): StatusContents {
  const ways = only === undefined ? undefined : waysTo(only);
  const assembly: Assembly = { values, createdAt, only, ways, placed: 0, newest: Number.NEGATIVE_INFINITY };
  const contents = recordOf(plan.root, assembly, false, Number.NaN) ?? {};
  if (contents['energies'] === undefined) return contents as StatusContents;
  const total = autonomyOf(values, createdAt);
  return (total === undefined ? contents : { ...contents, autonomy: total }) as StatusContents;
}

function autonomyOf(values: ReadonlyArray<SlotValue | undefined>, createdAt: ArrayLike<number>): number | undefined {
  let total: number | undefined;
  for (const slot of autonomies) {
    const value = values[slot.index];
    if (typeof value === 'number' && Number.isFinite(createdAt[slot.object])) total = (total ?? 0) + value;
  }
  return total;
}

/** For each object, the node where it starts and the nodes around that. */
const waysByObject: readonly (readonly PlanNode[])[] = waysOf(plan.root, []);

function waysOf(node: PlanNode, around: readonly PlanNode[]): PlanNode[][] {
  const found: PlanNode[][] = [];
  const way = [...around, node];
  if (node.kind === 'entries') for (const entry of node.entries) Object.assign(found, waysOf(entry, way));
  if (node.kind !== 'record') return found;
  if (node.object !== undefined) found[node.object] = way;
  for (const member of node.members) Object.assign(found, waysOf(member.node, way));
  return found;
}

function waysTo(objects: ReadonlySet<number>): Set<PlanNode> {
  const ways = new Set<PlanNode>();
  for (const object of objects) for (const node of waysByObject[object] ?? []) ways.add(node);
  return ways;
}

/** `open` is true if leaves of the surrounding object are included; `at` is its createdAt. */
function recordOf(
  node: PlanRecord,
  assembly: Assembly,
  open: boolean,
  at: number,
): Record<string, unknown> | undefined {
  const aside = node.object !== undefined || !open;
  if (aside && assembly.ways !== undefined && !assembly.ways.has(node)) return undefined;
  const before = assembly.placed;
  const outside = assembly.newest;
  if (node.object !== undefined) {
    at = Math.round(assembly.createdAt[node.object] as number);
    open = Number.isFinite(at) && (assembly.only === undefined || assembly.only.has(node.object));
    assembly.newest = Number.NEGATIVE_INFINITY;
  }
  const record: Record<string, unknown> = {};
  let complete = true;
  for (const member of node.members) {
    const value = memberOf(member, assembly, open, at);
    if (value === undefined) {
      if (member.required) complete = false;
      continue;
    }
    record[member.name] = value;
  }
  const empty = assembly.placed === before;
  if (node.object !== undefined) {
    if (!Number.isFinite(at)) at = assembly.newest;
    assembly.newest = complete && !empty ? Math.max(outside, at) : outside;
  }
  if (!complete || (empty && !(node.flat && node.stamped && open))) {
    assembly.placed = before;
    return undefined;
  }
  if (node.stamped) record['createdAt'] = at;
  return record;
}

function memberOf(member: PlanMember, assembly: Assembly, open: boolean, at: number): unknown {
  const { node } = member;
  switch (node.kind) {
    case 'constant':
      return node.value;
    case 'stamp':
      // Placeholder: the value is known only after all fields.
      return at;
    case 'leaf':
      return open ? place(node.slot, assembly) : undefined;
    case 'record':
      return recordOf(node, assembly, open, at);
    case 'entries': {
      if (!open && assembly.ways !== undefined && !assembly.ways.has(node)) return undefined;
      let entries: Record<string, unknown>[] | undefined;
      for (const entry of node.entries) {
        const record = recordOf(entry, assembly, open, at);
        if (record === undefined) continue;
        entries ??= [];
        entries.push(record);
      }
      return entries;
    }
    case 'tuple': {
      if (!open) return undefined;
      const before = assembly.placed;
      const items: SlotValue[] = [];
      for (const { slot } of node.items) {
        const value = place(slot, assembly);
        if (value === undefined) break;
        items.push(value);
      }
      if (items.length >= node.required) return items;
      assembly.placed = before;
      return undefined;
    }
  }
}

function place(slot: Slot, assembly: Assembly): SlotValue | undefined {
  const value = assembly.values[slot.index];
  if (value !== undefined) assembly.placed++;
  return value;
}

/** Slot value of a document; `at` is the createdAt of its object, NaN if the document has none. */
export interface Disassembled {
  readonly slot: Slot;
  readonly value: SlotValue;
  readonly at: number;
}

/**
 * Returns the slot values of a Status document, in slot order: the inverse of {@link assemble}. Ignores fields and
 * entries that Status does not have, null, and values whose shape does not match the schema.
 * An object without createdAt inherits that of its parent, or else that of the document.
 */
export function disassemble(status: object): Disassembled[] {
  const found: Disassembled[] = [];
  read(plan.root, status, stampOf(status, Number.NaN), found);
  return found;
}

function read(node: PlanNode, value: unknown, at: number, found: Disassembled[]): void {
  switch (node.kind) {
    case 'constant':
    case 'stamp':
      return;
    case 'leaf':
      if (fits(node.slot, value)) found.push({ slot: node.slot, value, at });
      return;
    case 'record': {
      if (!isRecord(value)) return;
      const own = node.object === undefined ? at : stampWithin(node, value, at);
      for (const member of node.members) {
        const inner = value[member.name];
        if (inner !== undefined) read(member.node, inner, own, found);
      }
      return;
    }
    case 'entries': {
      if (!Array.isArray(value)) return;
      for (const entry of node.entries) {
        const inner = value.find((item) => isEntry(item, entry.identity));
        if (inner !== undefined) read(entry, inner, at, found);
      }
      return;
    }
    case 'tuple': {
      if (!Array.isArray(value)) return;
      for (const [index, item] of node.items.entries()) read(item, value[index], at, found);
    }
  }
}

function isEntry(item: unknown, identity: Readonly<Record<string, string>>): boolean {
  if (!isRecord(item)) return false;
  for (const name in identity) if (item[name] !== identity[name]) return false;
  return true;
}

/** Returns the createdAt of an object, which is in the object or in a flat record of it. */
function stampWithin(node: PlanRecord, value: Readonly<Record<string, unknown>>, otherwise: number): number {
  if (node.stamped) return stampOf(value, otherwise);
  for (const { name, node: below } of node.members) {
    const inner = value[name];
    if (below.kind === 'record' && below.flat && below.stamped && isRecord(inner)) return stampOf(inner, otherwise);
  }
  return otherwise;
}

function stampOf(value: object, otherwise: number): number {
  const at = (value as Readonly<Record<string, unknown>>)['createdAt'];
  return typeof at === 'number' ? at : otherwise;
}

function fits(slot: Slot, value: unknown): value is SlotValue {
  switch (slot.kind) {
    case 'quantity':
    case 'instant':
      return typeof value === 'number' && Number.isFinite(value);
    case 'flag':
      return typeof value === 'boolean';
    case 'enumeration':
      return typeof value === 'string' && (slot.values ?? []).includes(value);
    case 'set':
      return Array.isArray(value) && value.every((name) => (slot.values ?? []).includes(name));
    case 'text':
      return typeof value === 'string';
    case 'value':
      return typeof value === 'object' && value !== null;
  }
}

/** Returns true for an object that is not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
