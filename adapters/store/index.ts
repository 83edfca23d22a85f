/** What outlives a power cut: messages, state and records in one journal, small documents replaced whole. */
export { type FileDocument, openDocument } from './document.ts';
export type { DurableOptions } from './durable.ts';
export { type FileSystem, nodeFileSystem, unreadable } from './files.ts';
export { lockDirectory } from './lock.ts';
export { MemoryRecords, type MemoryStore, type MemoryStoreOptions, memoryOutboxStore, memoryStore } from './memory.ts';
export type { JournalMetrics } from './metrics.ts';
export { type ClaimedFormat, claimFormat, FIRST_START, FORMAT, readFormat, refuseNewer } from './record-format.ts';
export type { RecordRule, RecordRules } from './retention.ts';
export { openStore, type Store, type StoreOptions } from './store.ts';
