/**
 * A slot for each identifier with wanted signals on a bus: its plan, and its last frame. A bus is prepared at its first
 * frame, because only then is its name certain.
 */
import { EXTENDED } from '../../../../agent/ports.ts';
import { type DbcMessage, signalNamed } from '../database.ts';
import { longestPayload, readable } from '../layout.ts';
import { type BoundDatabase, databasesOf, MessageIndex } from '../matching.ts';
import type { WantedSignal } from '../wanted.ts';
import {
  type DecodeTables,
  type IndexedSignal,
  PLAN_END_ROW,
  PLAN_FIRST_ROW,
  PLAN_FULL_LENGTH,
  PLAN_HAS_BIG,
  PLAN_SIZE,
} from './decode-tables.ts';
import { IdentifierMap } from './identifier-map.ts';
import type { Selector } from './selector.ts';
import {
  BRANCHING,
  NO_FULL_LENGTH,
  NO_SLOT,
  NONE_WAITS,
  RECORD_SIZE,
  SLOT_BRANCHES,
  SLOT_FIRST_ROW,
  SLOT_FULL_LENGTH,
  SLOT_HAS_BIG,
  SLOT_LAST_LENGTH,
  SLOT_LINK,
  SLOT_LIST,
  SLOT_NEXT_PLACE,
  SLOT_ROW_COUNT,
  SLOT_SELECTOR_MASK,
  SLOT_SELECTOR_SHIFT,
  SLOT_SELECTOR_WORD,
  SLOT_WAITING_LENGTH,
  UNLINKED,
} from './slot-record.ts';

/** State of one bus. */
export interface BusSlots {
  /** By 11-bit identifier. {@link NO_SLOT} if no signal is wanted. */
  readonly standard: Int32Array;
  readonly extended: IdentifierMap;
  /** Whether identifiers that no DBC lists can still match, as J1939 groups. */
  readonly open: boolean;
  readonly indexes: readonly MessageIndex[];
  readonly wanted: ReadonlyMap<DbcMessage, readonly IndexedSignal[]>;
  /** Plans, and slots that store no last payload, by the ids of the messages that they decode. */
  readonly plans: Map<string, number>;
  readonly forgetful: Map<string, number>;
}

/** Words of one slot in {@link Slots.tails}: payload beyond the first eight bytes. */
export const TAIL_SIZE = longestPayload / 4 - 2;
/** In {@link Slots.branches}: no frame had this value yet. */
const UNMADE = -1;
/** Number of signal lists cached per slot. A message with more multiplexor combinations gets new lists. */
const mostLists = 16;
/** A bus with more identifiers carries noise, not J1939 groups. Further ones are decoded without a stored payload. */
const mostIdentifiers = 8192;

export class Slots {
  /** {@link RECORD_SIZE} numbers per slot. */
  records = new Int32Array(8 * RECORD_SIZE);
  /**
   * Per multiplexor value, from SLOT_BRANCHES on: the record in which its frames wait, or -1 if it does not exist yet.
   */
  branches = new Int32Array(64);
  /** Per slot: words of the last payload beyond its first two. */
  tails = new Int32Array(8 * TAIL_SIZE);
  /** Per slot: all wanted signals of its plan. Slots of {@link branches} are included. */
  readonly signals: (readonly number[])[] = [];
  /** Per slot: wanted signals in its last payload, stored if some may be missing. Lists never change. */
  readonly carried: (readonly number[])[] = [];
  /** Per slot: the cached signal lists of its frames. */
  readonly #lists: (readonly number[])[][] = [];
  /** Per slot: index of its plan. */
  readonly #plans: number[] = [];
  /** Slots of branches, by original slot and plan. */
  readonly #branchSlots = new Map<string, number>();
  #branchesEnd = 0;
  readonly #tables: DecodeTables;
  readonly #wanted: readonly WantedSignal[];
  readonly #bound: readonly BoundDatabase[];

  constructor(tables: DecodeTables, wanted: readonly WantedSignal[], bound: readonly BoundDatabase[]) {
    this.#tables = tables;
    this.#wanted = wanted;
    this.#bound = bound;
  }

  /** @param name of the bus. Undefined if the source does not state it: then only databases for every bus apply. */
  prepare(name: string | undefined): BusSlots {
    const databases = databasesOf(this.#bound, name);
    const wanted = new Map<DbcMessage, IndexedSignal[]>();
    const named = new Map<string, DbcMessage[]>();
    for (const message of databases.flatMap((database) => database.messages)) {
      for (const one of new Set([message.name, message.symbol])) named.set(one, [...(named.get(one) ?? []), message]);
    }
    this.#wanted.forEach((one, index) => {
      if (one.bus !== undefined && one.bus !== name) return;
      for (const message of named.get(one.message) ?? []) {
        const signal = signalNamed(message, one.signal);
        if (signal === undefined || !readable(signal)) continue;
        const list = wanted.get(message) ?? [];
        list.push({ signal, index });
        wanted.set(message, list);
      }
    });
    const indexes = databases.map((database) => new MessageIndex(database));
    const standard = new Int32Array(2048).fill(NO_SLOT);
    const open = indexes.some((index) => index.open);
    const lists = { plans: new Map<string, number>(), forgetful: new Map<string, number>() };
    const bus: BusSlots = { standard, extended: new IdentifierMap(), open, indexes, wanted, ...lists };
    for (const id of new Set(indexes.flatMap((index) => [...index.ids]))) {
      const slot = this.#slotFor(bus, id, true, true);
      if (id < EXTENDED) standard[id] = slot;
      else bus.extended.set(id - EXTENDED, slot);
    }
    return bus;
  }

  /** Returns the slot of a 29-bit identifier that no DBC lists, or {@link NO_SLOT}. */
  discover(bus: BusSlots, id: number): number {
    if (!bus.open) return NO_SLOT;
    const remembered = bus.extended.size < mostIdentifiers;
    const slot = this.#slotFor(bus, id + EXTENDED, remembered, false);
    if (remembered) bus.extended.set(id, slot);
    else if (slot >= 0) this.records[slot * RECORD_SIZE + SLOT_LAST_LENGTH] = -1;
    return slot;
  }

  /** Drops the waiting frames and the last values. */
  forget(): void {
    for (let record = 0; record < this.carried.length * RECORD_SIZE; record += RECORD_SIZE) {
      this.records[record + SLOT_WAITING_LENGTH] = NONE_WAITS;
      this.records[record + SLOT_LAST_LENGTH] = -1;
      if (this.records[record + SLOT_NEXT_PLACE] !== BRANCHING) this.records[record + SLOT_NEXT_PLACE] = 0;
      this.records[record + SLOT_LINK] = UNLINKED;
    }
  }

  /** Returns a list, which never changes, of the first `count` signals. */
  listOf(slot: number, signals: Int32Array, count: number): readonly number[] {
    const lists = this.#lists[slot]!;
    for (let i = 0; i < lists.length; i++) if (alike(lists[i]!, signals, count)) return lists[i]!;
    const list = Array.from(signals.subarray(0, count));
    if (lists.length < mostLists) lists.push(list);
    return list;
  }

  /** Returns the record in which frames of this slot wait if their multiplexor has this raw value. */
  branch(record: number, value: number): number {
    const at = this.records[record + SLOT_BRANCHES]! + value;
    if (this.branches[at] === UNMADE) {
      const slot = record / RECORD_SIZE;
      const plan = this.#tables.select(this.#plans[slot]!, value);
      const key = `${slot} ${plan}`;
      const made = this.#branchSlots.get(key) ?? this.#add(plan, false);
      this.#branchSlots.set(key, made);
      this.branches[at] = made * RECORD_SIZE;
    }
    return this.branches[at]!;
  }

  /**
   * @param described whether a DBC lists the identifier: the number of these is limited, so their frames may have
   * branches.
   */
  #slotFor(bus: BusSlots, id: number, remembered: boolean, described: boolean): number {
    const messages = bus.indexes.map((index) => index.find(id));
    const wanted = messages.flatMap((message) => (message && bus.wanted.get(message)) ?? []);
    if (wanted.length === 0) return NO_SLOT;
    const key = messages.map((message) => message?.id).join();
    const shared = remembered ? undefined : bus.forgetful.get(key);
    if (shared !== undefined) return shared;
    let plan = bus.plans.get(key);
    if (plan === undefined) {
      plan = this.#tables.add(wanted);
      bus.plans.set(key, plan);
    }
    const slot = this.#add(plan, described);
    if (!remembered) bus.forgetful.set(key, slot);
    return slot;
  }

  #add(plan: number, branching: boolean): number {
    const slot = this.carried.length;
    const record = slot * RECORD_SIZE;
    if (record >= this.records.length) {
      this.records = twice(this.records);
      this.tails = twice(this.tails);
    }
    const { records } = this;
    const { plans } = this.#tables;
    records[record + SLOT_WAITING_LENGTH] = NONE_WAITS;
    records[record + SLOT_LIST] = slot;
    records[record + SLOT_LAST_LENGTH] = -1;
    records[record + SLOT_LINK] = UNLINKED;
    records[record + SLOT_FULL_LENGTH] = plans[plan + PLAN_FULL_LENGTH]!;
    records[record + SLOT_FIRST_ROW] = plans[plan + PLAN_FIRST_ROW]!;
    records[record + SLOT_ROW_COUNT] = plans[plan + PLAN_END_ROW]! - plans[plan + PLAN_FIRST_ROW]!;
    records[record + SLOT_HAS_BIG] = plans[plan + PLAN_HAS_BIG]!;
    const selector = this.#tables.selectors[plan / PLAN_SIZE];
    if (selector !== undefined && branching) this.#branch(record, selector);
    else if (selector !== undefined) records[record + SLOT_FULL_LENGTH] = NO_FULL_LENGTH;
    this.#plans.push(plan);
    this.signals.push(this.#tables.signals[plan / PLAN_SIZE]!);
    this.carried.push([]);
    this.#lists.push([]);
    return slot;
  }

  /** Makes frames of this slot wait in the records of branches. */
  #branch(record: number, { word, shift, mask }: Selector): void {
    const { records } = this;
    const end = this.#branchesEnd + mask + 1;
    while (end > this.branches.length) this.branches = twice(this.branches);
    this.branches.fill(UNMADE, this.#branchesEnd, end);
    records[record + SLOT_NEXT_PLACE] = BRANCHING;
    records[record + SLOT_SELECTOR_WORD] = word;
    records[record + SLOT_SELECTOR_SHIFT] = shift;
    records[record + SLOT_SELECTOR_MASK] = mask;
    records[record + SLOT_BRANCHES] = this.#branchesEnd;
    this.#branchesEnd = end;
  }
}

function alike(list: readonly number[], signals: Int32Array, count: number): boolean {
  if (list.length !== count) return false;
  for (let i = 0; i < count; i++) if (list[i] !== signals[i]) return false;
  return true;
}

function twice(column: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(column.length * 2);
  larger.set(column);
  return larger;
}
