/** Scope and limit of access to the buses; separate from the schemas, so that a page need not load them. */
import type { Scope } from '../operations/scopes.ts';

/** Frames bypass Status, and thus all scopes that protect values: they have a separate scope. */
export const BUS_SCOPE = 'data:bus' satisfies Scope;
/** Maximum number of signals in one stream. */
export const MOST_SIGNALS = 64;
