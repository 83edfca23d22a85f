/** Identifiers of the frames that signals of a network description are in. */
import type { BoundDatabase } from '../adapters/can/dbc/index.ts';
import type { IdentifierFilter } from '../adapters/can/socketcan/index.ts';
import { EXTENDED } from '../agent/ports.ts';

/** Those of a bus; of J1939 messages whatever carries their group. */
export function identifiersOf(
  signals: readonly { readonly message: string }[],
  databases: readonly BoundDatabase[],
  bus: string,
): readonly (number | IdentifierFilter)[] {
  const names = new Set(signals.map(({ message }) => message));
  return databases
    .filter((described) => described.bus === undefined || described.bus === bus)
    .flatMap(({ database }) => database.messages)
    .filter(({ name, symbol }) => names.has(name) || names.has(symbol))
    .map(({ id, j1939 }) => (j1939 ? { id, mask: groupMask(id) } : id));
}

/** The bits of the parameter group; below PDU format 240 the byte after it is a destination (SAE J1939-21 §5.2). */
function groupMask(id: number): number {
  return (EXTENDED | (((id >>> 16) & 0xff) < 240 ? 0x03ff_0000 : 0x03ff_ff00)) >>> 0;
}
