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
/** Numbers of one slot in {@link Slots.last}: the length of the last payload, then its words. */
export const KEPT = 1 + longestPayload / 4;
/** Beyond this many identifiers a bus is not a J1939 network but noise; those are decoded without a memory. */
const mostIdentifiers = 8192;

export class Slots {
  /** Per slot: its plan in the tables. */
  plan = new Int32Array(64);
  /** Per slot: {@link KEPT} numbers; a length of -1 equals no payload. */
  last = new Int32Array(64 * KEPT);
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
    else if (slot >= 0) this.last[slot * KEPT] = -1;
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
    if (slot >= this.plan.length) {
      const plans = new Int32Array(slot * 2);
      plans.set(this.plan);
      this.plan = plans;
      const last = new Int32Array(slot * 2 * KEPT);
      last.set(this.last);
      this.last = last;
    }
    this.plan[slot] = plan;
    this.last[slot * KEPT] = -1;
    this.carried.push([]);
    return slot;
  }

  /** Wanted signals of a slot's plan, all of them. */
  signals(slot: number): readonly number[] {
    return this.#tables.signals[this.plan[slot]! / PLAN]!;
  }
}
