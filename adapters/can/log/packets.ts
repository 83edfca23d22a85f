/**
 * CAN frames in captured packets, by their link type (tcpdump.org/linktypes):
 *
 *     227 LINKTYPE_CAN_SOCKETCAN   struct can_frame or canfd_frame, its identifier in network byte order
 *     113 LINKTYPE_LINUX_SLL       16 bytes, the last two the protocol, then the same
 *     276 LINKTYPE_LINUX_SLL2      20 bytes, the first two the protocol, the interface's number at 4, then the same
 *
 * After the headers of the last two, the identifier has the byte order of the capturing machine, which is that of
 * the file. Tools differ; identifier-order.ts detects the order.
 *
 *     0  identifier and flags (32 bit)   4  bytes of data   5  flags of FD   6  reserved (2)   8  data
 */
import { BIT_RATE_SWITCH, ERROR, ERROR_STATE, EXTENDED, FD, REMOTE, SENT } from '../../../agent/ports.ts';
import { type IdentifierOrder, isPossible } from './identifier-order.ts';
import { SLL, SLL2, SOCKETCAN } from './link-types.ts';
import type { Recording } from './recording.ts';

/** EtherTypes of CAN (linux/if_ether.h): ETH_P_CAN, ETH_P_CANFD, ETH_P_CANXL. */
const P_CAN = 0x000c;
const P_CANFD = 0x000d;
const P_CANXL = 0x000e;
/** Packet type of a packet that this machine sent (linux/if_packet.h). */
const OUTGOING = 4;

const HEADER = 8;
/** Size of a struct canfd_frame in bytes. It identifies FD frames in a capture without the flag. */
const CANFD_MTU = 72;
/** Flags of FD (linux/can.h): CANFD_BRS, CANFD_ESI, CANFD_FDF; of XL, in the preceding byte: CANXL_XLF. */
const BRS = 1;
const ESI = 2;
const FDF = 4;
const XLF = 0x80;

const xl = 'CAN XL frames are not read';

export interface Packet {
  /** UTC milliseconds. */
  readonly at: number;
  /** Start and end of the packet's bytes. */
  readonly from: number;
  readonly to: number;
  readonly sent: boolean;
}

/**
 * Adds the frame in a packet.
 * @param order byte order of identifiers for this link type
 * @param busOf returns the bus index of the interface with this number; the number is -1 except for {@link SLL2}
 * @returns the fault of the packet, or undefined
 */
export function addPacket(
  recording: Recording,
  view: DataView,
  order: IdentifierOrder,
  linkType: number,
  packet: Packet,
  busOf: (interfaceNumber: number) => number,
): string | undefined {
  let { from } = packet;
  let sent = packet.sent;
  let protocol = P_CAN;
  let number = -1;
  if (linkType !== SOCKETCAN) {
    const size = linkType === SLL ? 16 : 20;
    if (packet.to - from < size) return 'a packet is shorter than its header';
    protocol = view.getUint16(linkType === SLL ? from + 14 : from, false);
    sent ||= linkType === SLL ? view.getUint16(from, false) === OUTGOING : view.getUint8(from + 10) === OUTGOING;
    if (linkType === SLL2) number = view.getUint32(from + 4, false);
    if (protocol !== P_CAN && protocol !== P_CANFD) {
      if (protocol === P_CANXL) return xl;
      recording.passOver('packets of other protocols');
      return undefined;
    }
    from += size;
  }
  if (packet.to - from < HEADER) return 'a packet is shorter than a CAN frame';
  const raw = order.read(view, from);
  const length = view.getUint8(from + 4);
  const bits = view.getUint8(from + 5);
  if (linkType === SOCKETCAN && (length & XLF) !== 0) return xl;
  const fd = protocol === P_CANFD || (bits & FDF) !== 0 || length > 8 || packet.to - from === CANFD_MTU;
  if (length > 64) return 'a frame claims more than 64 bytes of data';
  if (!isPossible(raw)) return 'an identifier has more bits than its flags say';
  const id = identifierOf(raw);
  const bus = busOf(number);
  if (bus < 0) return 'more than 256 buses';
  const flags =
    (sent ? SENT : 0) |
    (fd ? FD | ((bits & BRS) !== 0 ? BIT_RATE_SWITCH : 0) | ((bits & ESI) !== 0 ? ERROR_STATE : 0) : 0);
  if ((id & REMOTE) !== 0) {
    recording.addEmpty(packet.at, id, bus, flags & SENT, Math.min(8, length));
    return undefined;
  }
  if (packet.to - from - HEADER < length) return 'a frame is cut';
  const start = from + HEADER;
  for (let i = 0; i < length; i++) recording.payload[i] = view.getUint8(start + i);
  recording.add(packet.at, id, bus, flags, length);
  return undefined;
}

/** Returns the identifier with its flags; for an error message, its class. */
function identifierOf(raw: number): number {
  if ((raw & ERROR) !== 0) return raw & 0x3fff_ffff;
  return ((raw & EXTENDED) !== 0 ? raw : raw & (REMOTE | 0x7ff)) >>> 0;
}
