/** Identifiers of the frames that contain the signals of a network description. */
import type { BoundDatabase } from '../adapters/can/dbc/index.ts';
import type { IdentifierFilter } from '../adapters/can/socketcan/index.ts';
import { EXTENDED } from '../agent/ports.ts';

/** PDU formats of the packets of a longer group: TP.CM, TP.DT (SAE J1939-21 §5.10), ETP.CM, ETP.DT (ISO 11783-3). */
const TRANSPORT_FORMATS = [0xec, 0xeb, 0xc8, 0xc7] as const;

/** Bytes of a frame of classic CAN. */
const FRAME_BYTES = 8;

/**
 * Returns the identifiers on a bus. For J1939 messages they include every frame with the same parameter group, and for
 * those longer than a frame the packets of all groups.
 */
export function identifiersOf(
  signals: readonly { readonly message: string }[],
  databases: readonly BoundDatabase[],
  bus: string,
): readonly (number | IdentifierFilter)[] {
  const names = new Set(signals.map(({ message }) => message));
  const messages = databases
    .filter((described) => described.bus === undefined || described.bus === bus)
    .flatMap(({ database }) => database.messages)
    .filter(({ name, symbol }) => names.has(name) || names.has(symbol));
  const packets = messages.some(({ j1939, length }) => j1939 && length > FRAME_BYTES)
    ? TRANSPORT_FORMATS.map((format) => ({ id: (EXTENDED | (format << 16)) >>> 0, mask: ANY_DESTINATION }))
    : [];
  return [...messages.map(({ id, j1939 }) => (j1939 ? { id, mask: groupMask(id) } : id)), ...packets];
}

/** Bits of PDU format and data pages: any priority, destination and source. */
const ANY_DESTINATION = (EXTENDED | 0x03ff_0000) >>> 0;

/** Returns the bits of the parameter group. Below PDU format 240 the next byte is a destination (SAE J1939-21 §5.2). */
function groupMask(id: number): number {
  return (EXTENDED | (((id >>> 16) & 0xff) < 240 ? 0x03ff_0000 : 0x03ff_ff00)) >>> 0;
}
