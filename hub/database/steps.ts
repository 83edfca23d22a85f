import type { SqlStatement } from './registry.ts';
import type { SqlRow } from './rows.ts';

/** Statements in sequence. Each receives the rows of the previous one. The same for all databases. */
export type SqlSteps<T> = Generator<SqlStatement, T, readonly SqlRow[]>;
