export { SqliteCommandStore } from './command-store.ts';
export { SqliteMessageStore } from './message-store.ts';
export { RecordReader } from './record-reader.ts';
export { SqliteDatabase } from './sqlite.ts';
