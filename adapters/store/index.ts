/** What outlives a power cut: the outbox in a journal, small documents replaced whole. */
export { type FileDocument, openDocument } from './document.ts';
export type { DurableOptions } from './durable.ts';
export type { JournalMetrics } from './journal.ts';
export { lockDirectory } from './lock.ts';
export { memoryOutboxStore } from './memory.ts';
export { type FileOutboxStore, type OutboxStoreOptions, openOutboxStore } from './outbox-store.ts';
