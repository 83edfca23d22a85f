import type { SqlStatement } from './registry.ts';
import type { SqlRow } from './rows.ts';

/** Statements one after the other, each with the rows that the one before returned: the same for every database. */
export type SqlSteps<T> = Generator<SqlStatement, T, readonly SqlRow[]>;
