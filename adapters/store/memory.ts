/** Store without persistence: for replays, programs without a directory, and tests. */

import type {
  Memory,
  OutboxEntry,
  OutboxReference,
  OutboxStore,
  RecordStore,
  StoredRecord,
} from '../../agent/ports.ts';
import { EARLIEST_TIME } from '../../protocol/calendar.ts';
import { VigieError } from '../../protocol/errors.ts';
import { entryBytes } from './message-record.ts';
import { checked } from './outbox-store.ts';
import { horizon, type RecordRules, ruleOf } from './retention.ts';
import { statesIn } from './states.ts';
import { decodeValue, encodeValue } from './values.ts';

export interface MemoryStore {
  readonly outbox: OutboxStore;
  readonly memory: Memory;
  readonly records: RecordStore;
  close(): Promise<void>;
}

interface MemoryStoreOptions {
  /** Retention of collections, as in the store on disk. */
  readonly records?: RecordRules;
  /** Collections that nothing reads; their records are not stored. */
  readonly unread?: ReadonlySet<string>;
  /** Returns the UTC ms by which records age, or undefined while the time is unknown; default: always undefined. */
  readonly now?: () => number | undefined;
}

/** Creates an empty store. It throws the same errors as the store on disk. */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  let numbers = 0;
  const states = statesIn({ first: [], put: () => numbers++, remove: () => undefined }, undefined);
  const records = new MemoryRecords(options);
  const commit = async (): Promise<void> => states.look();
  return { outbox: memoryOutbox(commit), memory: states, records, async close() {} };
}

/** Returns the outbox of a new {@link memoryStore}, for callers that use nothing else. */
export function memoryOutboxStore(): OutboxStore {
  return memoryStore().outbox;
}

function memoryOutbox(commit: () => Promise<void>): OutboxStore {
  const classes = new Map<number, { next: number; readonly entries: Map<number, OutboxEntry> }>();
  let bytes = 0;
  const size = ({ payload, correlation }: OutboxEntry) => entryBytes(payload.length, correlation?.length ?? 0);
  const find = (priority: number, seq: number) => classes.get(priority)?.entries.get(seq);
  return {
    volatile: true,
    *entries() {
      for (const priority of [...classes.keys()].sort((a, b) => a - b)) {
        for (const entry of classes.get(priority)!.entries.values()) yield referenceTo(entry);
      }
    },
    nextSeq: (priority) => classes.get(priority)?.next ?? 0,
    firstWaiting: (priority) => classes.get(priority)?.entries.keys().next().value,
    get bytes() {
      return bytes;
    },
    reference(priority, seq) {
      const entry = find(priority, seq);
      return entry && referenceTo(entry);
    },
    load: find,
    append(entry) {
      const { class: priority, seq } = checked(entry);
      const series = classes.get(priority) ?? { next: 0, entries: new Map<number, OutboxEntry>() };
      if (!Number.isSafeInteger(seq) || seq < series.next) {
        throw new VigieError('input.malformed', `number ${seq} of series ${priority}; ${series.next} is free`);
      }
      classes.set(priority, series);
      series.entries.set(seq, entry);
      series.next = seq + 1;
      bytes += size(entry);
    },
    acknowledge(priority, seq) {
      const entry = find(priority, seq);
      if (entry === undefined) return;
      classes.get(priority)!.entries.delete(seq);
      bytes -= size(entry);
    },
    giveUp(priority, seq) {
      this.acknowledge(priority, seq);
    },
    // Entries abandoned here do not outlive the outbox, which itself remembers them.
    owed: () => [],
    gapKnown: () => undefined,
    commit,
  };
}

function referenceTo({ class: priority, seq, kind, at, retain, payload }: OutboxEntry): OutboxReference {
  return { class: priority, seq, kind, at, retain, bytes: payload.length };
}

/** A record whose value is stored as bytes, so that callers cannot change it. */
interface KeptRecord {
  readonly id: string;
  readonly at: number;
  readonly value: Uint8Array;
}

interface KeptCollection {
  readonly byId: Map<string, KeptRecord>;
  /** The records, ordered by time, then by id. */
  ordered: KeptRecord[];
  bytes: number;
}

/** Factor by which a collection may exceed its limit, so that not every new record requires a search for the oldest. */
const slack = 1.1;

/** Stores records in memory only. Throws the same errors as the store on disk. */
export class MemoryRecords implements RecordStore {
  readonly #options: MemoryStoreOptions;
  readonly #collections = new Map<string, KeptCollection>();

  constructor(options: MemoryStoreOptions = {}) {
    this.#options = options;
  }

  put(collection: string, { id, at, record }: StoredRecord): void {
    if (collection === '') throw new VigieError('input.malformed', 'a collection must have a name');
    if (!Number.isFinite(at))
      throw new VigieError('input.malformed', `record ${id} of ${collection}: ${at} is not a time`);
    if (this.#options.unread?.has(collection) === true) return;
    const kept = { id, at, value: encodeValue(record, `record ${id} of ${collection}`).slice() };
    const into = this.#collection(collection);
    const { byId, ordered } = into;
    const before = byId.get(id);
    if (before !== undefined) {
      ordered.splice(ordered.indexOf(before), 1);
      into.bytes -= before.value.length;
    }
    byId.set(id, kept);
    let place = ordered.length;
    while (place > 0 && compare(kept, ordered[place - 1]!) < 0) place--;
    ordered.splice(place, 0, kept);
    into.bytes += kept.value.length;
    this.#retire(collection, into);
  }

  get(collection: string, id: string): StoredRecord | undefined {
    const kept = this.#collections.get(collection)?.byId.get(id);
    return kept && opened(kept);
  }

  *list(collection: string, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): Generator<StoredRecord> {
    const all = this.#collections.get(collection)?.ordered ?? [];
    for (const kept of all.filter(({ at }) => at >= from && at < to)) yield opened(kept);
  }

  #retire(name: string, collection: KeptCollection): void {
    const { byId, ordered } = collection;
    const rule = ruleOf(name, this.#options.records ?? {});
    const before = horizon(rule, this.#options.now?.());
    const tooOld = ({ at }: KeptRecord) => at >= EARLIEST_TIME && at < before;
    const tooMuch = collection.bytes > rule.bytes * slack;
    if (!tooMuch && !ordered.some(tooOld)) return;
    collection.ordered = ordered.filter((kept) => {
      if (!tooOld(kept) && !(tooMuch && collection.bytes > rule.bytes)) return true;
      collection.bytes -= kept.value.length;
      byId.delete(kept.id);
      return false;
    });
  }

  #collection(name: string): KeptCollection {
    let collection = this.#collections.get(name);
    if (collection === undefined) {
      collection = { byId: new Map(), ordered: [], bytes: 0 };
      this.#collections.set(name, collection);
    }
    return collection;
  }
}

function compare(a: KeptRecord, b: KeptRecord): number {
  return a.at - b.at || (a.id < b.id ? -1 : 1);
}

function opened({ id, at, value }: KeptRecord): StoredRecord {
  return { id, at, record: decodeValue(value) };
}
