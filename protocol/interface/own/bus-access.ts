/** Who may follow the buses, and how much; apart from the schemas, which a page does not load. */
import type { Scope } from '../operations/scopes.ts';

/** Frames bypass Status, and so all that scopes of values guard: a scope of their own. */
export const BUS_SCOPE = 'data:bus' satisfies Scope;
/** Signals that one stream follows at most. */
export const MOST_SIGNALS = 64;
