export { PostgresCommandStore } from './command-store.ts';
export { PostgresDatabase } from './database.ts';
export { PostgresMessageStore } from './message-store.ts';
