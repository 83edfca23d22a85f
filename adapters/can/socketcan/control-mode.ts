/** Settings of a CAN controller, as reported by the kernel (rtnetlink(7), linux/can/netlink.h). */
import {
  AF_NETLINK,
  CAN_CTRLMODE_ONE_SHOT,
  IFLA_CAN_CTRLMODE,
  IFLA_INFO_DATA,
  IFLA_INFO_KIND,
  IFLA_LINKINFO,
  NETLINK_ROUTE,
  NLA_TYPE_MASK,
  NLM_F_REQUEST,
  RTM_GETLINK,
  RTM_NEWLINK,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_RAW,
} from './constants.ts';
import type { Libc } from './libc.ts';

/** `struct nlmsghdr`: length, type, flags, sequence, port. */
const HEADER = 16;
/** `struct ifinfomsg`: family, type, index, flags, change. */
const INFORMATION = 16;
/** Buffer size in bytes for the kernel's report on one interface (NLMSG_GOODSIZE is less). */
const ANSWER = 32 * 1024;

/**
 * Returns true if the controller sends a frame once (`ip link set … type can one-shot on`) and drops it if no node
 * acknowledges it. Returns false for interfaces without a controller, or if the kernel or a sandbox does not answer.
 */
export function isOneShot(libc: Pick<Libc, 'socket' | 'write' | 'receive' | 'close'>, index: number): boolean {
  const descriptor = libc.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return false;
  try {
    const request = new Uint8Array(HEADER + INFORMATION);
    const view = new DataView(request.buffer);
    view.setUint32(0, request.length, true);
    view.setUint16(4, RTM_GETLINK, true);
    view.setUint16(6, NLM_F_REQUEST, true);
    view.setInt32(HEADER + 4, index, true);
    if (libc.write(descriptor, request, request.length) < 0) return false;
    // The kernel has answered by the time the write returns.
    const answer = new Uint8Array(ANSWER);
    const length = libc.receive(descriptor, answer);
    return length > 0 && readOneShot(answer.subarray(0, length));
  } finally {
    libc.close(descriptor);
  }
}

/** Returns true if an answer to RTM_GETLINK contains `one-shot on`. */
export function readOneShot(answer: Uint8Array): boolean {
  if (answer.length < HEADER + INFORMATION) return false;
  const view = new DataView(answer.buffer, answer.byteOffset, answer.length);
  if (view.getUint16(4, true) !== RTM_NEWLINK) return false;
  const end = Math.min(view.getUint32(0, true), answer.length);
  const link = attributes(view, HEADER + INFORMATION, end).get(IFLA_LINKINFO);
  if (link === undefined) return false;
  const information = attributes(view, link.begin, link.end);
  const kind = information.get(IFLA_INFO_KIND);
  const data = information.get(IFLA_INFO_DATA);
  if (kind === undefined || data === undefined) return false;
  // The meaning of the further attribute numbers depends on the kind.
  if (String.fromCharCode(...answer.subarray(kind.begin, kind.end)).replace(/\0.*$/s, '') !== 'can') return false;
  const mode = attributes(view, data.begin, data.end).get(IFLA_CAN_CTRLMODE);
  // struct can_ctrlmode: mask, flags
  if (mode === undefined || mode.end - mode.begin < 8) return false;
  return (view.getUint32(mode.begin + 4, true) & CAN_CTRLMODE_ONE_SHOT) !== 0;
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

/** Returns the attributes by type. `struct rtattr`: length (with header), type, data; aligned to multiples of 4. */
function attributes(view: DataView, from: number, end: number): ReadonlyMap<number, Span> {
  const found = new Map<number, Span>();
  for (let place = from; place + 4 <= end; ) {
    const length = view.getUint16(place, true);
    if (length < 4 || place + length > end) break;
    found.set(view.getUint16(place + 2, true) & NLA_TYPE_MASK, { begin: place + 4, end: place + length });
    place += (length + 3) & ~3;
  }
  return found;
}
