export { DatabaseClock } from './clock.ts';
export { PostgresCommandStore } from './command-store.ts';
export { PostgresDatabase } from './database.ts';
export { postgresExits } from './exits.ts';
export { PostgresLocks } from './locks.ts';
export { PostgresMessageStore } from './message-store.ts';
export { PostgresNews } from './news.ts';
export { PartitionedRetention, Partitions } from './partitions.ts';
