/** Writes pcap and pcapng by their drafts (draft-ietf-opsawg-pcap, -pcapng) and the link types' descriptions. */
import { BIT_RATE_SWITCH, ERROR, ERROR_STATE, FD, REMOTE, SENT } from '../../../../agent/ports.ts';
import type { Frame } from './frames.ts';

export interface Capture {
  /** 227 SocketCAN, 113 Linux SLL, 276 Linux SLL2. */
  readonly linkType: 227 | 113 | 276;
  readonly little: boolean;
  readonly nano: boolean;
  /** Byte order of identifiers, if the tool deviates from the link type. */
  readonly identifiers?: 'big' | 'little';
}

class Bytes {
  readonly #parts: Buffer[] = [];
  readonly #little: boolean;

  constructor(little: boolean) {
    this.#little = little;
  }

  u16(...values: readonly number[]): this {
    for (const value of values) {
      const bytes = Buffer.alloc(2);
      if (this.#little) bytes.writeUInt16LE(value);
      else bytes.writeUInt16BE(value);
      this.#parts.push(bytes);
    }
    return this;
  }

  u32(...values: readonly number[]): this {
    for (const value of values) {
      const bytes = Buffer.alloc(4);
      if (this.#little) bytes.writeUInt32LE(value);
      else bytes.writeUInt32BE(value);
      this.#parts.push(bytes);
    }
    return this;
  }

  raw(bytes: Uint8Array, multiple = 1): this {
    this.#parts.push(Buffer.from(bytes), Buffer.alloc((multiple - (bytes.length % multiple)) % multiple));
    return this;
  }

  done(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** The packet of a frame for the given link type. */
export function packetOf(frame: Frame, { linkType, little, identifiers }: Capture): Buffer {
  const fd = (frame.flags & FD) !== 0;
  const size = fd ? 64 : 8;
  const body = Buffer.alloc(8 + size);
  // The SocketCAN link type has network byte order; the Linux cooked headers have the byte order of the machine.
  if (identifiers === undefined ? linkType !== 227 && little : identifiers === 'little')
    body.writeUInt32LE(frame.id, 0);
  else body.writeUInt32BE(frame.id, 0);
  body[4] = frame.length;
  if (fd) {
    const flag = (mask: number, value: number) => ((frame.flags & mask) !== 0 ? value : 0);
    body[5] = flag(BIT_RATE_SWITCH, 1) | flag(ERROR_STATE, 2) | 4;
  }
  if ((frame.id & REMOTE) === 0 || (frame.id & ERROR) !== 0) Buffer.from(frame.data, 'hex').copy(body, 8);
  const protocol = fd ? 0x000d : 0x000c;
  const outgoing = (frame.flags & SENT) !== 0 ? 4 : 0;
  if (linkType === 113) {
    // Packet type, ARPHRD_CAN, no address.
    return Buffer.concat([new Bytes(false).u16(outgoing, 280, 0, 0, 0, 0, 0, protocol).done(), body]);
  }
  if (linkType === 276) {
    const head = new Bytes(false).u16(protocol, 0).u32(interfaceOf(frame)).u16(280);
    return Buffer.concat([head.raw(Uint8Array.of(outgoing, 0)).raw(Buffer.alloc(8)).done(), body]);
  }
  return body;
}

const interfaceOf = (frame: Frame) => Number(frame.bus.slice(3)) + 3;

/** The frames as this kind of capture can represent them: it may lack bus names and directions. */
export function asCaptured(frames: readonly Frame[], { linkType }: Capture): Frame[] {
  return frames.map((frame) => ({
    ...frame,
    bus: linkType === 276 ? `if${interfaceOf(frame)}` : 'can0',
    flags: linkType === 227 ? frame.flags & ~SENT : frame.flags,
  }));
}

export function pcap(frames: readonly Frame[], capture: Capture): Buffer {
  const { linkType, little, nano } = capture;
  const file = new Bytes(little)
    .u32(nano ? 0xa1b2_3c4d : 0xa1b2_c3d4)
    .u16(2, 4)
    .u32(0, 0, 262_144, linkType);
  for (const frame of frames) {
    const packet = packetOf(frame, capture);
    const micros = Math.round(frame.at * 1000);
    const part = (micros % 1_000_000) * (nano ? 1000 : 1);
    file.u32(Math.floor(micros / 1_000_000), part, packet.length, packet.length).raw(packet);
  }
  return file.done();
}

export interface Section {
  /** If true, interfaces have names. */
  readonly named?: boolean;
  /** if_tsresol; if omitted, microseconds. */
  readonly resolution?: number | undefined;
  /** if_tsoffset, seconds. */
  readonly offset?: number;
  /** Type of the blocks that hold packets; default: enhanced. */
  readonly block?: 'enhanced' | 'obsolete' | 'simple';
}

/** A pcapng file with an interface for each bus. Blocks without packets lie between the packets. */
export function pcapng(frames: readonly Frame[], capture: Capture, section: Section = {}): Buffer {
  const { linkType, little } = capture;
  const { named = true, resolution, offset = 0, block: kind = 'enhanced' } = section;
  const buses = [...new Set(frames.map(({ bus }) => bus))].sort();
  const file = new Bytes(little);
  const block = (type: number, body: Buffer) => {
    const size = body.length + 12;
    file.u32(type, size).raw(body).u32(size);
  };
  const option = (code: number, value: Uint8Array) => new Bytes(little).u16(code, value.length).raw(value, 4).done();
  block(
    0x0a0d_0d0a,
    new Bytes(little)
      .u32(0x1a2b_3c4d)
      .u16(1, 0)
      .u32(0xffff_ffff, 0xffff_ffff)
      .raw(option(4, Buffer.from('test')))
      .done(),
  );
  for (const bus of buses) {
    const options: Buffer[] = [];
    if (named) options.push(option(2, Buffer.from(bus)));
    if (resolution !== undefined) options.push(option(9, Uint8Array.of(resolution)));
    if (offset !== 0) {
      const seconds = Buffer.alloc(8);
      if (little) seconds.writeBigInt64LE(BigInt(offset));
      else seconds.writeBigInt64BE(BigInt(offset));
      options.push(option(14, seconds));
    }
    if (options.length > 0) options.push(option(0, Buffer.alloc(0)));
    block(1, new Bytes(little).u16(linkType, 0).u32(0).raw(Buffer.concat(options)).done());
  }
  // Interface statistics block, which holds no packets.
  block(5, new Bytes(little).u32(0, 0, 0).done());
  for (const frame of frames) {
    const packet = packetOf(frame, capture);
    const micros = BigInt(Math.round(frame.at * 1000)) - BigInt(offset) * 1_000_000n;
    const perSecond =
      resolution === undefined
        ? 1_000_000n
        : (resolution & 0x80) !== 0
          ? 2n ** BigInt(resolution & 0x7f)
          : 10n ** BigInt(resolution);
    // Rounded up, so that a coarser binary resolution errs by at most one step.
    const ticks = (micros * perSecond + 999_999n) / 1_000_000n;
    const at = [Number(ticks >> 32n), Number(ticks & 0xffff_ffffn)];
    const sizes = [packet.length, packet.length];
    const outbound = option(2, new Bytes(little).u32((frame.flags & SENT) !== 0 ? 2 : 1).done());
    const bus = buses.indexOf(frame.bus);
    if (kind === 'simple') block(3, new Bytes(little).u32(packet.length).raw(packet, 4).done());
    else if (kind === 'obsolete') {
      block(
        2,
        new Bytes(little)
          .u16(bus, 0)
          .u32(...at, ...sizes)
          .raw(packet, 4)
          .raw(outbound)
          .done(),
      );
    } else
      block(
        6,
        new Bytes(little)
          .u32(bus, ...at, ...sizes)
          .raw(packet, 4)
          .raw(outbound)
          .done(),
      );
  }
  return file.done();
}
