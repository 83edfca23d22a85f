import type { SqlStatement } from './registry.ts';
import type { SqlRow } from './rows.ts';

/** Statements in sequence, the same for all databases. Each yield returns the rows of its statement. */
export type SqlSteps<T> = Generator<SqlStatement, T, readonly SqlRow[]>;
