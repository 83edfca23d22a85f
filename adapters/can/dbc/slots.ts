/**
 * A slot for each identifier that carries something wanted on a bus: what is to be read of its frames, and the last
 * of them. Buses are prepared when their first frame comes, for only then are their names certain.
 */
import { EXTENDED } from '../../../agent/ports.ts';
import { type Message, signalNamed } from './database.ts';
import { type DecodeTables, END, FIRST, PLAIN, PLAN, SWAPPED, type Wanted } from './decode-tables.ts';
import { IdentifierMap } from './identifier-map.ts';
import { longestPayload, readable } from './layout.ts';
import { type BoundDatabase, databasesOf, MessageIndex } from './matching.ts';
import type { WantedSignal } from './wanted.ts';

/** What is known of one bus. */
export interface BusSlots {
  /** By 11-bit identifier; {@link NO_SLOT} where nothing is wanted. */
  readonly standard: Int32Array;
  readonly extended: IdentifierMap;
  /** Identifiers that no description lists can still be J1939 groups. */
  readonly open: boolean;
  readonly indexes: readonly MessageIndex[];
  readonly wanted: ReadonlyMap<Message, readonly Wanted[]>;
  /** Plans, and slots without a memory, by the ids of the messages they read. */
  readonly plans: Map<string, number>;
  readonly forgetful: Map<string, number>;
}

export const NO_SLOT = -1;

/** Frames of one slot that wait at most to be decoded together. */
export const MOST_WAITING = 28;
/*
 * Numbers of one slot's record in Slots.records. First what every frame asks for: the length of the last payload, -1
 * for none, and its first eight bytes as two words; the bytes with which every row of the plan is there; how many
 * frames wait; the record of the slot in which frames began to wait before, or UNLINKED; then what the plan says, and
 * the slot's number.
 */
export const LAST = 0;
export const LAST_LOW = 1;
export const LAST_HIGH = 2;
export const ENOUGH = 3;
export const COUNT = 4;
export const LINK = 5;
export const ROW = 6;
export const ROWS = 7;
export const BIG_ROWS = 8;
export const NUMBER = 9;
/** Of the waiting frames, a run for each: payloads as two words in Intel order, in Motorola order; their entries. */
export const LOW = 16;
export const HIGH: number = LOW + MOST_WAITING;
export const BIG_LOW: number = HIGH + MOST_WAITING;
export const BIG_HIGH: number = BIG_LOW + MOST_WAITING;
export const ENTRY: number = BIG_HIGH + MOST_WAITING;
/** Length of a record. */
export const RECORD: number = ENTRY + MOST_WAITING;
/** The slot is in no list. */
export const UNLINKED = -2;
/** Words of one slot in {@link Slots.tails}: what a payload has beyond eight bytes. */
export const TAIL = longestPayload / 4 - 2;
/** Lists of a slot that are kept to be given again; a message with more ways to be multiplexed gets new ones. */
const mostLists = 16;
/** Beyond this many identifiers a bus is not a J1939 network but noise; those are decoded without a memory. */
const mostIdentifiers = 8192;

export class Slots {
  /** {@link RECORD} numbers per slot. */
  records = new Int32Array(8 * RECORD);
  /** Per slot: words of the last payload beyond its first two. */
  tails = new Int32Array(8 * TAIL);
  /** Per slot: the wanted signals of its plan, all of them. */
  readonly signals: (readonly number[])[] = [];
  /** Per slot: the wanted signals its last payload carried, kept when that may be fewer. Lists never change. */
  readonly carried: (readonly number[])[] = [];
  /** Per slot: the lists that its frames carried, a few. */
  readonly #lists: (readonly number[])[][] = [];
  readonly #tables: DecodeTables;
  readonly #wanted: readonly WantedSignal[];
  readonly #bound: readonly BoundDatabase[];

  constructor(tables: DecodeTables, wanted: readonly WantedSignal[], bound: readonly BoundDatabase[]) {
    this.#tables = tables;
    this.#wanted = wanted;
    this.#bound = bound;
  }

  /** @param name of the bus; undefined when the source does not say, then only what serves every bus applies. */
  prepare(name: string | undefined): BusSlots {
    const databases = databasesOf(this.#bound, name);
    const wanted = new Map<Message, Wanted[]>();
    const named = new Map<string, Message[]>();
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
      const slot = this.#slotFor(bus, id, true);
      if (id < EXTENDED) standard[id] = slot;
      else bus.extended.set(id - EXTENDED, slot);
    }
    return bus;
  }

  /** The slot of a 29-bit identifier that no description lists, or {@link NO_SLOT}. */
  discover(bus: BusSlots, id: number): number {
    if (!bus.open) return NO_SLOT;
    const remembered = bus.extended.size < mostIdentifiers;
    const slot = this.#slotFor(bus, id + EXTENDED, remembered);
    if (remembered) bus.extended.set(id, slot);
    else if (slot >= 0) this.records[slot * RECORD + LAST] = -1;
    return slot;
  }

  /** No frame waits and none is remembered. */
  forget(): void {
    for (let record = 0; record < this.carried.length * RECORD; record += RECORD) {
      this.records[record + LAST] = -1;
      this.records[record + COUNT] = 0;
      this.records[record + LINK] = UNLINKED;
    }
  }

  /** A list of the first `count` signals that never changes. */
  listOf(slot: number, signals: Int32Array, count: number): readonly number[] {
    const lists = this.#lists[slot]!;
    for (let i = 0; i < lists.length; i++) if (alike(lists[i]!, signals, count)) return lists[i]!;
    const list = Array.from(signals.subarray(0, count));
    if (lists.length < mostLists) lists.push(list);
    return list;
  }

  #slotFor(bus: BusSlots, id: number, remembered: boolean): number {
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
    const slot = this.#add(plan);
    if (!remembered) bus.forgetful.set(key, slot);
    return slot;
  }

  #add(plan: number): number {
    const slot = this.carried.length;
    const record = slot * RECORD;
    if (record >= this.records.length) {
      this.records = twice(this.records);
      this.tails = twice(this.tails);
    }
    const { plans } = this.#tables;
    this.records[record + LAST] = -1;
    this.records[record + ENOUGH] = plans[plan + PLAIN]!;
    this.records[record + LINK] = UNLINKED;
    this.records[record + ROW] = plans[plan + FIRST]!;
    this.records[record + ROWS] = plans[plan + END]! - plans[plan + FIRST]!;
    this.records[record + BIG_ROWS] = plans[plan + SWAPPED]!;
    this.records[record + NUMBER] = slot;
    this.signals.push(this.#tables.signals[plan / PLAN]!);
    this.carried.push([]);
    this.#lists.push([]);
    return slot;
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
