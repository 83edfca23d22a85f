/**
 * A store whose process can be killed: new entries are in memory, and a later start finds the state of the last commit.
 * A commit stores messages, states and records together, after the work that requested it.
 */
import { decodeValue, encodeValue } from '../../adapters/store/values.ts';
import type {
  Memory,
  OutboxEntry,
  OutboxReference,
  OutboxStore,
  RecordStore,
  StoredRecord,
} from '../../agent/ports.ts';

interface Kept {
  readonly id: string;
  readonly at: number;
  readonly bytes: Uint8Array;
}

interface Image {
  readonly states: Map<string, Uint8Array>;
  readonly records: Map<string, Map<string, Kept>>;
  readonly classes: Map<number, { next: number; entries: Map<number, OutboxEntry> }>;
}

export class KillableStore {
  readonly outbox: OutboxStore;
  readonly memory: Memory;
  readonly records: RecordStore;
  commits = 0;
  /** Bytes of changed states that commits wrote. */
  stateBytes = 0;
  /** A commit was requested and has not been made yet. */
  asked = false;
  readonly #disk: Image;
  readonly #live: Image;
  readonly #sources: (() => Iterable<readonly [string, unknown]>)[] = [];
  /** Each state as last collected. An identical object is not compared again. */
  readonly #given = new Map<string, unknown>();
  /** Changes that the next commit makes on disk. */
  #changes: ((disk: Image) => void)[] = [];

  /** @param after the store that was killed */
  constructor(after?: KillableStore) {
    this.#disk = after === undefined ? { states: new Map(), records: new Map(), classes: new Map() } : after.#disk;
    this.#live = copy(this.#disk);
    this.outbox = this.#outbox();
    this.memory = {
      recall: (key) => {
        const bytes = this.#disk.states.get(key);
        return bytes === undefined ? undefined : decodeValue(bytes);
      },
      keep: (states) => void this.#sources.push(states),
    };
    this.records = {
      put: (collection, { id, at, record }) => {
        const kept: Kept = { id, at, bytes: encodeValue(record, id).slice() };
        this.#change(({ records }) => inner(records, collection).set(id, kept));
      },
      get: (collection, id) => opened(this.#live.records.get(collection)?.get(id)),
      list: (collection, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY) =>
        this.all(collection).filter(({ at }) => at >= from && at < to),
    };
  }

  /** All records of a collection, in order. */
  all(collection: string): StoredRecord[] {
    const kept = [...(this.#live.records.get(collection)?.values() ?? [])];
    return kept.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1)).flatMap((one) => opened(one) ?? []);
  }

  get collections(): string[] {
    return [...this.#live.records.keys()].sort();
  }

  #change(change: (image: Image) => void): void {
    change(this.#live);
    this.#changes.push(change);
  }

  #commit(): void {
    this.asked = false;
    this.commits++;
    for (const change of this.#changes.splice(0)) change(this.#disk);
    const { states } = this.#disk;
    for (const [key, value] of this.#sources.flatMap((source) => [...source()])) {
      if (this.#given.has(key) && value === this.#given.get(key)) continue;
      this.#given.set(key, value);
      if (value === undefined) {
        states.delete(key);
        continue;
      }
      const bytes = encodeValue(value, key).slice();
      if (Buffer.compare(bytes, states.get(key) ?? new Uint8Array()) === 0) continue;
      this.stateBytes += key.length + bytes.length;
      states.set(key, bytes);
    }
  }

  #outbox(): OutboxStore {
    const find = (priority: number, seq: number) => this.#live.classes.get(priority)?.entries.get(seq);
    return {
      entries: () => [...this.#live.classes.values()].flatMap(({ entries }) => [...entries.values()].map(referenceTo)),
      reference: (priority, seq) => {
        const entry = find(priority, seq);
        return entry && referenceTo(entry);
      },
      load: find,
      nextSeq: (priority) => this.#live.classes.get(priority)?.next ?? 0,
      firstWaiting: (priority) => this.#live.classes.get(priority)?.entries.keys().next().value,
      bytes: 0,
      append: (entry) =>
        this.#change(({ classes }) => {
          const line = classes.get(entry.class) ?? { next: 0, entries: new Map() };
          classes.set(entry.class, line);
          line.entries.set(entry.seq, entry);
          line.next = entry.seq + 1;
        }),
      acknowledge: (priority, seq) => this.#change(({ classes }) => classes.get(priority)?.entries.delete(seq)),
      giveUp: (priority, seq) => this.#change(({ classes }) => classes.get(priority)?.entries.delete(seq)),
      // Nothing is damaged here, and the outbox state contains the abandoned numbers.
      owed: () => [],
      gapKnown: () => undefined,
      commit: async () => {
        this.asked = true;
        // Like in the store on disk, a group closes when the work that requested it is done.
        await undefined;
        if (this.asked) this.#commit();
      },
    };
  }
}

function referenceTo({ class: priority, seq, kind, at, retain, payload }: OutboxEntry): OutboxReference {
  return { class: priority, seq, kind, at, retain, bytes: payload.length };
}

function opened(kept: Kept | undefined): StoredRecord | undefined {
  return kept && { id: kept.id, at: kept.at, record: decodeValue(kept.bytes) };
}

function inner<K, A, B>(maps: Map<K, Map<A, B>>, key: K): Map<A, B> {
  const found = maps.get(key) ?? new Map<A, B>();
  maps.set(key, found);
  return found;
}

function copy({ states, records, classes }: Image): Image {
  return {
    states: new Map(states),
    records: new Map([...records].map(([name, kept]) => [name, new Map(kept)])),
    classes: new Map([...classes].map(([name, { next, entries }]) => [name, { next, entries: new Map(entries) }])),
  };
}
