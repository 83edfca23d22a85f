/**
 * Assembles parameter groups of more than 8 bytes from their packets: to all control units (BAM) and to one (RTS/CTS)
 * according to SAE J1939-21 §5.10, and up to 1 MiB in the extended transport protocol (ISO 11783-3 §5.11). Never
 * sends.
 *
 *     TP.CM  EC00   16 RTS  17 CTS  19 end  32 BAM  255 abort     size (2)  packets  -  group (3)
 *     TP.DT  EB00   number of the packet, from 1, then 7 bytes
 *     ETP.CM C800   20 RTS  21 CTS  22 DPO  23 end  255 abort     RTS: size (4), group (3); DPO: packets, offset (3), group (3)
 *     ETP.DT C700   number of the packet after the offset, from 1, then 7 bytes
 */
import { ERROR, EXTENDED, REMOTE } from '../../../agent/ports.ts';

const TP_CM = 0xec;
const TP_DT = 0xeb;
const ETP_CM = 0xc8;
const ETP_DT = 0xc7;
const RTS = 16;
const END = 19;
const BAM = 32;
const ETP_RTS = 20;
const ETP_DPO = 22;
const ETP_END = 23;
const ABORT = 255;
const ALL = 0xff;
const PACKET_BYTES = 7;
const MIN_GROUP_BYTES = 9;
const MAX_TP_BYTES = 1785;
/** Largest group that a log is read for. Groups in descriptions are far smaller. */
const MAX_ETP_BYTES = 1024 * 1024;
/** Largest number of pairs of control units that exchange packets at one time on all buses. More is noise. */
const MAX_SESSIONS = 1024;

/** Limits of memory: a control unit can announce any size, and never send it. */
interface TransportLimits {
  /** Size of the largest group that is put together, in bytes; a larger one is ignored. */
  readonly maxBytes: number;
  /** Largest number of groups that are under way. */
  readonly maxSessions: number;
}
/** Longest pause between packets before the sender has given up, ms: T1 to T4 are at most 1,250 ms. */
const MAX_PAUSE_MS = 1250;

/** A group with all its packets. */
export interface ParameterGroup {
  /** Identifier that a frame with this group would have, with EXTENDED bit. */
  readonly id: number;
  readonly bus: number;
  /** Time of the last packet. */
  readonly at: number;
  readonly data: Uint8Array;
}

interface Session {
  readonly id: number;
  readonly data: Uint8Array;
  readonly packets: number;
  readonly got: Uint8Array;
  /** True for packets to all control units, which arrive once and in order. */
  readonly toAll: boolean;
  missing: number;
  last: number;
  /** Number of packets before those that are numbered from 1. */
  offset: number;
  at: number;
}

/** Reason why a group was lost. */
type GroupLoss =
  | 'packets are missing'
  | 'its sender gave it up'
  | 'its announcement contradicts itself'
  | 'the log ends within it';

export class J1939Transport {
  /** Number of assembled groups. */
  groups = 0;
  /** Number of groups that were started and lost, by reason. */
  readonly lost: Map<GroupLoss, number> = new Map();
  /** Number of lost groups, for any reason. */
  lostCount = 0;
  readonly #sessions = new Map<number, Session>();
  readonly #limits: TransportLimits;

  constructor(limits: TransportLimits = { maxBytes: MAX_ETP_BYTES, maxSessions: MAX_SESSIONS }) {
    this.#limits = limits;
  }

  /**
   * Adds a frame of any kind.
   * @param data its payload from `from` on
   * @returns the group that this packet completes, or undefined
   */
  receive(
    id: number,
    bus: number,
    at: number,
    data: Uint8Array,
    from: number,
    length: number,
  ): ParameterGroup | undefined {
    if ((id & EXTENDED) === 0 || (id & (REMOTE | ERROR)) !== 0 || length !== 8) return undefined;
    const format = (id >>> 16) & 0xff;
    // Groups of the transport protocols are on data page 0.
    if (((id >>> 24) & 3) !== 0) return undefined;
    const destination = (id >>> 8) & 0xff;
    const source = id & 0xff;
    switch (format) {
      case TP_DT:
      case ETP_DT:
        return this.#packet(keyOf(bus, source, destination, format === ETP_DT), bus, at, data, from);
      case TP_CM:
      case ETP_CM:
        this.#control(id, bus, at, data.subarray(from, from + 8), format === ETP_CM);
        return undefined;
      default:
        return undefined;
    }
  }

  /** Call after the last frame. */
  end(): void {
    for (const key of [...this.#sessions.keys()]) this.#lose(key, 'the log ends within it');
  }

  #control(id: number, bus: number, at: number, data: Uint8Array, extended: boolean): void {
    const destination = (id >>> 8) & 0xff;
    const source = id & 0xff;
    const own = keyOf(bus, source, destination, extended);
    const kind = data[0] as number;
    if (kind === ABORT) {
      // Either side may give up.
      this.#lose(own, 'its sender gave it up');
      this.#lose(keyOf(bus, destination, source, extended), 'its sender gave it up');
    } else if (extended && kind === ETP_DPO) {
      const session = this.#sessions.get(own);
      if (session === undefined) return;
      session.offset = number(data, 2, 3);
      session.at = at;
    } else if (kind === (extended ? ETP_END : END)) {
      // The receiver has the whole group. A packet that is still missing is not in this log.
      this.#lose(keyOf(bus, destination, source, extended), 'packets are missing');
    } else if (kind === (extended ? ETP_RTS : RTS) || (!extended && kind === BAM)) {
      this.#begin(id, own, at, data, extended);
    } else {
      // Clear to send: the sender continues, perhaps after a long wait.
      const session = this.#sessions.get(keyOf(bus, destination, source, extended));
      if (session !== undefined) session.at = at;
    }
  }

  #begin(id: number, key: number, at: number, data: Uint8Array, extended: boolean): void {
    this.#lose(key, 'packets are missing');
    const size = number(data, 1, extended ? 4 : 2);
    const packets = Math.ceil(size / PACKET_BYTES);
    const group = number(data, 5, 3);
    const toAll = data[0] === BAM;
    const largest = extended ? MAX_ETP_BYTES : MAX_TP_BYTES;
    const counted = extended || data[3] === packets;
    const addressed = toAll === (((id >>> 8) & 0xff) === ALL);
    if (size < MIN_GROUP_BYTES || size > largest || !counted || !addressed || group > 0x3_ffff) {
      this.#count('its announcement contradicts itself');
      return;
    }
    if (size > this.#limits.maxBytes) return;
    if (this.#sessions.size >= this.#limits.maxSessions)
      this.#lose(this.#sessions.keys().next().value as number, 'packets are missing');
    this.#sessions.set(key, {
      id: identifierOf(id, group),
      data: new Uint8Array(size),
      packets,
      got: new Uint8Array(packets),
      toAll,
      missing: packets,
      last: 0,
      offset: 0,
      at,
    });
  }

  #packet(key: number, bus: number, at: number, data: Uint8Array, from: number): ParameterGroup | undefined {
    const session = this.#sessions.get(key);
    if (session === undefined) return undefined;
    const packet = session.offset + (data[from] as number);
    const isLate = at - session.at > MAX_PAUSE_MS;
    session.at = at;
    // A gateway may repeat a packet; a receiver may ask for packets again, unless the group is sent to all.
    if (session.toAll && packet === session.last) return undefined;
    const inOrder = !session.toAll || packet === session.last + 1;
    if (isLate || !inOrder || packet < 1 || packet > session.packets) {
      this.#lose(key, 'packets are missing');
      return undefined;
    }
    session.last = packet;
    const begin = (packet - 1) * PACKET_BYTES;
    const size = Math.min(PACKET_BYTES, session.data.length - begin);
    for (let i = 0; i < size; i++) session.data[begin + i] = data[from + 1 + i] as number;
    if (session.got[packet - 1] === 0) session.missing--;
    session.got[packet - 1] = 1;
    if (session.missing > 0) return undefined;
    this.#sessions.delete(key);
    this.groups++;
    return { id: session.id, bus, at, data: session.data };
  }

  #lose(key: number, why: GroupLoss): void {
    if (this.#sessions.delete(key)) this.#count(why);
  }

  #count(why: GroupLoss): void {
    this.lost.set(why, (this.lost.get(why) ?? 0) + 1);
    this.lostCount++;
  }
}

function keyOf(bus: number, source: number, destination: number, extended: boolean): number {
  return ((bus * 256 + source) * 256 + destination) * 2 + Number(extended);
}

/** Returns the identifier of a group with the priority and addresses of its announcement. */
function identifierOf(announcement: number, group: number): number {
  const hasDestination = ((group >>> 8) & 0xff) < 240;
  const middle = hasDestination ? (group & 0x3ff00) | ((announcement >>> 8) & 0xff) : group;
  return ((announcement & 0x9c00_00ff) | (middle << 8)) >>> 0;
}

/** Returns an unsigned number, the lowest byte first. */
function number(data: Uint8Array, from: number, size: number): number {
  let value = 0;
  for (let i = size - 1; i >= 0; i--) value = value * 256 + (data[from + i] as number);
  return value;
}
