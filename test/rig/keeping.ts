/** Memory and records without a disk, for tests of the core alone. */
import type { Memory, RecordStore, StoredRecord } from '../../agent/ports.ts';

/** What one agent keeps can be handed to the next: `commit` writes down what `keep` was given. */
export class KeptMemory implements Memory {
  readonly kept = new Map<string, unknown>();
  #states: () => Iterable<readonly [string, unknown]> = () => [];

  recall(key: string): unknown {
    return this.kept.get(key);
  }

  keep(states: () => Iterable<readonly [string, unknown]>): void {
    this.#states = states;
  }

  commit(): void {
    for (const [key, value] of this.#states()) {
      if (value === undefined) this.kept.delete(key);
      else this.kept.set(key, structuredClone(value));
    }
  }
}

export class KeptRecords implements RecordStore {
  readonly collections = new Map<string, Map<string, StoredRecord>>();

  put(collection: string, record: StoredRecord): void {
    const records = this.collections.get(collection) ?? new Map<string, StoredRecord>();
    this.collections.set(collection, records);
    records.set(record.id, record);
  }

  get(collection: string, id: string): StoredRecord | undefined {
    return this.collections.get(collection)?.get(id);
  }

  list(collection: string, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): StoredRecord[] {
    const records = [...(this.collections.get(collection)?.values() ?? [])];
    return records.filter(({ at }) => at >= from && at < to).sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  }
}
