import type { Memory, RecordStore, StoredRecord } from '../agent/ports.ts';

/** Nobody reads these of a process that keeps nothing. */
const series: ReadonlySet<string> = new Set(['telemetry', 'waypoint', 'signals']);

/** Memory and records that end with the process. */
export function volatileStore(): { memory: Memory; records: RecordStore } {
  const collections = new Map<string, Map<string, StoredRecord>>();
  return {
    memory: { recall: () => undefined, keep: () => undefined },
    records: {
      put: (collection, record) => {
        const records = collections.get(collection) ?? new Map<string, StoredRecord>();
        collections.set(collection, records);
        if (!series.has(collection)) records.set(record.id, record);
      },
      get: (collection, id) => collections.get(collection)?.get(id),
      list: (collection) => collections.get(collection)?.values() ?? [],
    },
  };
}
