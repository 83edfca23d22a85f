/**
 * pcapng (draft-ietf-opsawg-pcapng): sections with interfaces and their packets, in blocks:
 *
 *     0  type   4  size   8  …   size - 4  size again
 *
 * An interface is a bus, with the interface's name if it has one (blanks become `_`). Other block types are skipped.
 */
import { IdentifierOrder, readAhead } from './identifier-order.ts';
import { canLinkTypes, linkTypeName, SLL2, SOCKETCAN } from './link-types.ts';
import { addPacket, type Packet } from './packets.ts';
import { Ticks } from './pcapng-ticks.ts';
import type { LogParser, Recording } from './recording.ts';

const SECTION = 0x0a0d_0d0a;
const BYTE_ORDER = 0x1a2b_3c4d;
const INTERFACE = 1;
const PACKET = 2;
const SIMPLE_PACKET = 3;
const ENHANCED_PACKET = 6;
/** Offset of the packet's bytes by block type, which is also the smallest size of the block. */
const heads: Readonly<Record<number, number>> = { [PACKET]: 28, [SIMPLE_PACKET]: 12, [ENHANCED_PACKET]: 28 };
const SMALLEST = 12;
/** Largest packet block with its options, in bytes. */
const LARGEST = 4 * 1024 * 1024;

/** Options (§4.2, §4.3): name, resolution and offset of an interface, flags of a packet. */
const IF_NAME = 2;
const IF_TSRESOL = 9;
const IF_TSOFFSET = 14;
const PACKET_FLAGS = 2;
/** Mask of the direction in a packet's flags, and the value for outbound. */
const DIRECTION = 3;
const OUTBOUND = 2;

interface Interface {
  readonly linkType: number;
  readonly order: IdentifierOrder;
  readonly ticks: Ticks;
  /** Index of the interface's bus, defined by its first frame. */
  bus: number | undefined;
  readonly name: string;
}

export class PcapngParser implements LogParser {
  readonly #recording: Recording;
  #little = true;
  #interfaces: Interface[] = [];
  #lost = false;
  /** Number of bytes of a block still to skip. */
  #skip = 0;
  #position = 0;
  /** Time of the previous packet, for packets without a time. */
  #at = 0;
  readonly #packet: { -readonly [key in keyof Packet]: Packet[key] } = { at: 0, from: 0, to: 0, sent: false };

  readonly #orders: Map<string, IdentifierOrder>;
  /** True once the byte orders of identifiers were detected from the first packets. */
  #judged: boolean;

  /** @param orders detected by a parser that reads the same file, by byte order of the section and link type */
  constructor(recording: Recording, orders?: Map<string, IdentifierOrder>) {
    this.#recording = recording;
    this.#orders = orders ?? new Map();
    this.#judged = orders !== undefined;
  }

  parse(bytes: Uint8Array, from: number, end: number, last: boolean): number {
    if (!this.#judged) {
      this.#judged = true;
      readAhead((scratch) => new PcapngParser(scratch, this.#orders), bytes, from, end);
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let pos = from;
    while (!this.#recording.full) {
      const next = this.#block(view, pos, end, last);
      if (next === pos) break;
      this.#position += next - pos;
      pos = next;
    }
    return pos;
  }

  /** Reads a block. Returns the position of the next block, or `at` if the block is incomplete. */
  #block(view: DataView, at: number, end: number, last: boolean): number {
    if (this.#lost) return end;
    if (this.#skip > 0) {
      const skipped = Math.min(this.#skip, end - at);
      this.#skip -= skipped;
      if (last && this.#skip > 0 && at + skipped === end) return this.#cut(end);
      return at + skipped;
    }
    const left = end - at;
    if (left < SMALLEST) return last && left > 0 ? this.#cut(end) : at;
    const section = view.getUint32(at, true) === SECTION;
    if (section && !this.#begin(view, at)) return this.#lose(end, 'a section has no byte order');
    const type = view.getUint32(at, this.#little);
    const size = view.getUint32(at + 4, this.#little);
    if (size < SMALLEST || size % 4 !== 0) return this.#lose(end, 'a block claims an impossible size', size);
    const head = heads[type];
    if (head === undefined && type !== INTERFACE) {
      this.#skip = size;
      return this.#block(view, at, end, last);
    }
    if (size > LARGEST) return this.#lose(end, 'a block claims an impossible size', size);
    if (left < size) return last ? this.#cut(end) : at;
    if (view.getUint32(at + size - 4, this.#little) !== size) {
      return this.#lose(end, 'a block says another size at its end', size);
    }
    if (type === INTERFACE) this.#interfaces.push(this.#interface(view, at, size));
    else if (head !== undefined) {
      const fault = this.#take(view, at, type, at + head, at + size - 4);
      if (fault !== undefined) this.#recording.fault(0, fault);
    }
    return at + size;
  }

  #begin(view: DataView, at: number): boolean {
    const order = view.getUint32(at + 8, true);
    this.#little = order === BYTE_ORDER;
    this.#interfaces = [];
    return this.#little || view.getUint32(at + 8, false) === BYTE_ORDER;
  }

  /** Reads an interface: link type (16 bit) at 8, options from 16. */
  #interface(view: DataView, at: number, size: number): Interface {
    if (size < 20) return { linkType: -1, order: this.#orderOf(-1), ticks: new Ticks(6, 0), bus: undefined, name: '' };
    let name: string | undefined;
    let resolution = 6;
    let offset = 0;
    this.#options(view, at + 16, at + size - 4, (code, value, length) => {
      if (code === IF_NAME) {
        name = new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + value, Math.min(length, 64)));
      } else if (code === IF_TSRESOL && length >= 1) resolution = view.getUint8(value);
      else if (code === IF_TSOFFSET && length >= 8) offset = Number(view.getBigInt64(value, this.#little));
    });
    const linkType = view.getUint16(at + 8, this.#little);
    const ticks = new Ticks(resolution, offset);
    const order = this.#orderOf(linkType);
    const known = name?.replace(/\s+/g, '_') ?? `can${this.#interfaces.length}`;
    return { linkType, order, ticks, bus: undefined, name: known };
  }

  #orderOf(linkType: number): IdentifierOrder {
    const key = `${this.#little} ${linkType}`;
    const known = this.#orders.get(key) ?? new IdentifierOrder(this.#little && linkType !== SOCKETCAN);
    this.#orders.set(key, known);
    return known;
  }

  /** Reads a packet with bytes from `from`, in a block whose options end at `end`. */
  #take(view: DataView, at: number, type: number, from: number, end: number): string | undefined {
    const recording = this.#recording;
    if (from > end) return 'a block is too small for a packet';
    const little = this.#little;
    const simple = type === SIMPLE_PACKET;
    const number = simple ? 0 : type === PACKET ? view.getUint16(at + 8, little) : view.getUint32(at + 8, little);
    const size = simple ? Math.min(view.getUint32(at + 8, little), end - from) : view.getUint32(at + 20, little);
    const source = this.#interfaces[number];
    if (source === undefined) return 'a packet is from an interface that is not described';
    if (size > end - from) return 'a packet is longer than its block';
    if (!canLinkTypes.has(source.linkType)) {
      recording.passOver(`packets of ${linkTypeName(source.linkType)}`);
      return undefined;
    }
    const packet = this.#packet;
    if (!simple) this.#at = source.ticks.at(view.getUint32(at + 12, little), view.getUint32(at + 16, little));
    packet.at = this.#at;
    packet.from = from;
    packet.to = from + size;
    packet.sent = false;
    const options = from + ((size + 3) & ~3);
    if (!simple && options < end) {
      this.#options(view, options, end, (code, value, length) => {
        if (code !== PACKET_FLAGS || length !== 4) return;
        packet.sent = (view.getUint32(value, little) & DIRECTION) === OUTBOUND;
      });
    }
    return addPacket(recording, view, source.order, source.linkType, packet, (interfaceNumber) => {
      if (source.linkType === SLL2) return recording.bus(`if${interfaceNumber}`);
      source.bus ??= recording.bus(source.name);
      return source.bus;
    });
  }

  /** Reads options: code (16 bit), length (16 bit), value, padded to 32 bits. */
  #options(
    view: DataView,
    from: number,
    end: number,
    take: (code: number, value: number, length: number) => void,
  ): void {
    for (let at = from; at + 4 <= end; ) {
      const code = view.getUint16(at, this.#little);
      const length = view.getUint16(at + 2, this.#little);
      if (code === 0 || at + 4 + length > end) return;
      take(code, at + 4, length);
      at += 4 + ((length + 3) & ~3);
    }
  }

  #lose(end: number, reason: string, size?: number): number {
    const what = size === undefined ? reason : `${reason} (${size})`;
    this.#recording.fault(0, `${what}, at byte ${this.#position}: nothing behind it can be read`, reason);
    this.#lost = true;
    return end;
  }

  #cut(end: number): number {
    this.#recording.fault(0, 'the file ends within a block');
    // Report this only once, even if the end is requested several times.
    this.#lost = true;
    return end;
  }
}
