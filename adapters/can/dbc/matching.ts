/** Finds the message of a frame by its identifier. */
import { EXTENDED } from '../../../agent/ports.ts';
import type { Database, DbcMessage } from './database.ts';

/** A network description and the bus that it describes. Without a bus it describes every bus. */
export interface BoundDatabase {
  readonly bus?: string;
  readonly database: Database;
}

/** Returns the databases that describe a bus, in the order in which they were bound. */
export function databasesOf(bound: readonly BoundDatabase[], bus: string | undefined): Database[] {
  return bound.filter((entry) => entry.bus === undefined || entry.bus === bus).map((entry) => entry.database);
}

/**
 * Returns the 18-bit parameter group number of a 29-bit identifier (SAE J1939-21 §5.2): extended data page, data page,
 * PDU format and, for formats from 240 up, the group extension. For lower formats that byte is the destination address,
 * which is not part of the number.
 */
export function parameterGroup(id: number): number {
  const group = (id >>> 8) & 0x3ffff;
  return ((group >>> 8) & 0xff) < 240 ? group & 0x3ff00 : group;
}

/** The null address, which network descriptions use for groups from any source. */
const anySource = 0xfe;

/**
 * Finds the message of an identifier. A message with the complete identifier takes precedence. Otherwise J1939 messages
 * match by parameter group: the one with the frame's source address, else the one for any source, else the first.
 */
export class MessageIndex {
  readonly #exact = new Map<number, DbcMessage>();
  readonly #groups = new Map<number, DbcMessage[]>();

  constructor(database: Database) {
    for (const message of database.messages) {
      if (!message.onBus) continue;
      this.#exact.set(message.id, message);
      if (!message.j1939) continue;
      const group = parameterGroup(message.id);
      const same = this.#groups.get(group);
      if (same === undefined) this.#groups.set(group, [message]);
      else same.push(message);
    }
  }

  /** @param id identifier with EXTENDED bit, unsigned. */
  find(id: number): DbcMessage | undefined {
    const exact = this.#exact.get(id);
    if (exact !== undefined || id < EXTENDED || this.#groups.size === 0) return exact;
    const candidates = this.#groups.get(parameterGroup(id));
    return (
      candidates?.find((message) => (message.id & 0xff) === (id & 0xff)) ??
      candidates?.find((message) => (message.id & 0xff) === anySource) ??
      candidates?.[0]
    );
  }

  /** True if identifiers that are not listed can still match. */
  get open(): boolean {
    return this.#groups.size > 0;
  }

  get ids(): Iterable<number> {
    return this.#exact.keys();
  }
}

/** Finds the message of a frame in the first database of its bus that contains the identifier. */
export class MessageFinder {
  readonly #bound: readonly BoundDatabase[];
  readonly #indexes = new Map<string | undefined, readonly MessageIndex[]>();

  constructor(bound: readonly BoundDatabase[]) {
    this.#bound = bound;
  }

  /** @param id identifier with EXTENDED bit, unsigned. */
  find(bus: string | undefined, id: number): DbcMessage | undefined {
    let indexes = this.#indexes.get(bus);
    if (indexes === undefined) {
      indexes = databasesOf(this.#bound, bus).map((database) => new MessageIndex(database));
      this.#indexes.set(bus, indexes);
    }
    for (const index of indexes) {
      const message = index.find(id);
      if (message !== undefined) return message;
    }
    return undefined;
  }
}
