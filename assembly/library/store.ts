/** Stores of records and state: `vigie/store`. */
export { memoryStore } from '../../adapters/store/index.ts';
export type { Memory, OutboxEntry, OutboxStore, RecordStore, StoredRecord } from '../../agent/ports.ts';
export type { OwnStore } from '../records.ts';

/** Directory that one agent at a time uses. */
export interface Directory {
  readonly directory: string;
}

/** Stores everything in `path`, safe from power cuts. The agent creates the directory if it is missing. */
export function directory(path: string): Directory {
  return { directory: path };
}
