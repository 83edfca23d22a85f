import type { SqlStatement } from './registry.ts';
import type { SqlRow } from './rows.ts';

/**
 * Statements in sequence. The generator receives the rows of each statement before it yields the next. The same for all
 * databases.
 */
export type SqlSteps<T> = Generator<SqlStatement, T, readonly SqlRow[]>;
