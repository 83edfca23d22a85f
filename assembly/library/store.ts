/** Where records and state are kept: `vigie/store`. */
export { memoryStore } from '../../adapters/store/index.ts';
export type { Memory, OutboxEntry, OutboxStore, RecordStore, StoredRecord } from '../../agent/ports.ts';
export type { OwnStore } from '../records.ts';

/** A directory of one agent at a time. */
export interface Directory {
  readonly directory: string;
}

/** Keeps everything in `path`, over power cuts. The agent makes the directory where it is missing. */
export function directory(path: string): Directory {
  return { directory: path };
}
