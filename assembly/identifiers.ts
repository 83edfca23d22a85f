/** Identifiers of the frames that carry the signals of a network description. */
import type { BoundDatabase } from '../adapters/can/dbc/index.ts';
import type { IdentifierFilter } from '../adapters/can/socketcan/index.ts';
import { EXTENDED } from '../agent/ports.ts';

/** PDU formats of the packets of long groups: TP.CM, TP.DT (SAE J1939-21 §5.10), ETP.CM, ETP.DT (ISO 11783-3). */
const TRANSPORT_FORMATS = [0xec, 0xeb, 0xc8, 0xc7] as const;

/** Maximum number of data bytes in a classic CAN frame. */
const FRAME_BYTES = 8;

/**
 * Returns the identifiers of these signals' messages on a bus. For J1939 messages they include all frames with the same
 * parameter group and, if a message is longer than a frame, the packets of all groups.
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

/** Mask that keeps PDU format and data pages; priority, destination and source may have any value. */
const ANY_DESTINATION = (EXTENDED | 0x03ff_0000) >>> 0;

/** Returns the mask of the parameter group. Below PDU format 240 the next byte is a destination (SAE J1939-21 §5.2). */
function groupMask(id: number): number {
  return (EXTENDED | (((id >>> 16) & 0xff) < 240 ? 0x03ff_0000 : 0x03ff_ff00)) >>> 0;
}
