/** Identifiers of the frames that contain the signals of a network description. */
import type { BoundDatabase } from '../adapters/can/dbc/index.ts';
import type { IdentifierFilter } from '../adapters/can/socketcan/index.ts';
import { EXTENDED } from '../agent/ports.ts';

/** Returns the identifiers on a bus. For J1939 messages they include every frame with the same parameter group. */
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

/** Returns the bits of the parameter group. Below PDU format 240 the next byte is a destination (SAE J1939-21 §5.2). */
function groupMask(id: number): number {
  return (EXTENDED | (((id >>> 16) & 0xff) < 240 ? 0x03ff_0000 : 0x03ff_ff00)) >>> 0;
}
