export { SqliteMessageStore } from './message-store.ts';
export { RecordReader } from './record-reader.ts';
export { SqliteDatabase } from './sqlite.ts';
