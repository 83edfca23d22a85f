/** Stores of records and state: `vigie/store`. */
export { memoryStore } from '../../adapters/store/index.ts';
export type { Memory, OutboxEntry, OutboxStore, RecordStore, StoredRecord } from '../../agent/ports.ts';
export type { OwnStore } from '../records.ts';

/** Directory for records and state, used by only one agent at a time. */
export interface Directory {
  readonly directory: string;
}

/** Stores everything in `path`, safe from power cuts. Creates the directory if it does not exist. */
export function directory(path: string): Directory {
  return { directory: path };
}
