/** Store that survives power cuts: messages, state and records in one journal; small documents replaced as a whole. */
export { openDocument } from './document.ts';
export { type FileSystem, nodeFileSystem, unreadable } from './files.ts';
export { lockDirectory } from './lock.ts';
export { MemoryRecords, type MemoryStore, memoryOutboxStore, memoryStore } from './memory.ts';
export { readMessages } from './message-reading.ts';
export { claimFormat, FIRST_START, FORMAT, readFormat, refuseNewer } from './record-format.ts';
export { openStore, type Store, type StoreOptions } from './store.ts';
