/**
 * A slot for each identifier that carries something wanted on a bus: what is to be read of its frames, and the last
 * of them. Buses are prepared when their first frame comes, for only then are their names certain.
 */
import { EXTENDED } from '../../../agent/ports.ts';
import { type Message, signalNamed } from './database.ts';
import { type DecodeTables, PLAN, type Wanted } from './decode-tables.ts';
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
/** Numbers of one slot in {@link Slots.heads}, a power of two so that none lies across two cache lines. */
export const HEAD = 8;
/** Length of the last payload, -1 for none, and its first eight bytes as two words. */
export const LAST = 0;
export const LAST_LOW = 1;
export const LAST_HIGH = 2;
/** The plan's numbers of these names, see decode-tables.ts. */
export const SLOT_FIRST = 3;
export const SLOT_END = 4;
export const SLOT_PLAIN = 5;
export const SLOT_MIXED = 6;
/** Words of one slot in {@link Slots.tails}: what a payload has beyond eight bytes. */
export const TAIL = longestPayload / 4 - 2;
/** Beyond this many identifiers a bus is not a J1939 network but noise; those are decoded without a memory. */
const mostIdentifiers = 8192;

export class Slots {
  /** Per slot: what every frame asks for, side by side. */
  heads = new Int32Array(64 * HEAD);
  /** Per slot: words of the last payload beyond its first two. */
  tails = new Int32Array(64 * TAIL);
  /** Per slot: the wanted signals of its plan, all of them. */
  readonly signals: (readonly number[])[] = [];
  /** Per slot: the wanted signals its last payload carried, kept when that was not all of them. */
  readonly carried: number[][] = [];
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
    else if (slot >= 0) this.heads[slot * HEAD + LAST] = -1;
    return slot;
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
    if (slot * HEAD >= this.heads.length) {
      this.heads = twice(this.heads);
      this.tails = twice(this.tails);
    }
    const { plans } = this.#tables;
    const head = slot * HEAD;
    this.heads[head + LAST] = -1;
    this.heads.set(plans.subarray(plan, plan + PLAN), head + SLOT_FIRST);
    this.signals.push(this.#tables.signals[plan / PLAN]!);
    this.carried.push([]);
    return slot;
  }
}

function twice(column: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(column.length * 2);
  larger.set(column);
  return larger;
}
