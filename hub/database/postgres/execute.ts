import type { SqlRow } from '../rows.ts';

/** Executes one statement with `$1`, `$2`, … for its values. A list is a value of an array type. */
export type Execute = (sql: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>;
