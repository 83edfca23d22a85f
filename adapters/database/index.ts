export { SqliteCommandStore } from './command-store.ts';
export { SqliteMessageStore } from './message-store.ts';
export { SqlMonitors } from './monitors.ts';
export { SqlOverview } from './overview-queries.ts';
export { SqlReader } from './queries.ts';
export { SqlRegistry } from './registry.ts';
export { SqlRollouts } from './rollouts.ts';
export { SqliteDatabase } from './sqlite.ts';
