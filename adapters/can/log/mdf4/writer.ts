/**
 * Writes an MDF4 bus log (ASAM MDF 4.1 with "Bus Logging" 1.0): a data group for each bus and kind of frame, with
 * uncompressed records in one block.
 *
 *     record   0 time, ns   8 channel   9 identifier, bit 31: extended   13 flags   14 DLC   15 length   16 bytes
 */

import { BIT_RATE_SWITCH, ERROR, ERROR_STATE, EXTENDED, FD, REMOTE, SENT } from '../../../../agent/ports.ts';
import type { CapturedFrames } from '../../../../protocol/captures/columns.ts';
import { defined } from '../../../../protocol/defined.ts';

/** Frames, and the names of their buses by number. */
interface NamedFrames {
  readonly frames: CapturedFrames;
  readonly buses: readonly string[];
}

type Kind = 'Data' | 'Remote' | 'Error';

interface Row {
  readonly at: number;
  readonly id: number;
  readonly flags: number;
  readonly length: number;
  readonly bytes: Uint8Array;
}

interface Group {
  readonly kind: Kind;
  readonly bus: string;
  readonly rows: Row[];
}

/** Size in bytes of a block before its links, and of the file's identification. */
const HEAD = 24;
const IDENTIFICATION = 64;
/** Size in bytes of a record without its payload. */
const FIXED = 16;
const ID = 0x1fff_ffff;
/** Lengths of payloads by DLC (ISO 11898-1). */
const lengths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];

/** A block whose position is assigned when the file is written. */
interface Block {
  readonly id: string;
  readonly links: (Block | undefined)[];
  readonly data: Uint8Array;
}

/**
 * Returns the file. Frames are sorted by time within their group; buses are numbered from 1 in the order of appearance.
 */
export function mdf4Of(parts: readonly NamedFrames[]): Uint8Array<ArrayBuffer> {
  const groups = groupsOf(parts);
  const buses = [...new Set([...groups.values()].map(({ bus }) => bus))];
  let start = Number.POSITIVE_INFINITY;
  for (const { rows } of groups.values()) for (const { at } of rows) start = Math.min(start, Math.floor(at));
  if (!Number.isFinite(start)) start = 0;
  const blocks = [...groups.values()].map((group) => dataGroup(group, buses.indexOf(group.bus) + 1, start));
  const nanoseconds = fields([8, BigInt(start) * 1_000_000n]);
  const comment = '<TX/><tool_id>vigie</tool_id><tool_vendor>vigie</tool_vendor><tool_version>1</tool_version>';
  const history = block('FH', [undefined, textBlock('MD', `<FHcomment>${comment}</FHcomment>`)], nanoseconds, zeros(8));
  const header = block('HD', [chain(blocks), history, ...nowhere(4)], nanoseconds, zeros(24));
  return file(header);
}

function groupsOf(parts: readonly NamedFrames[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const { frames, buses } of parts) {
    for (let i = 0; i < frames.count; i++) {
      const id = frames.id[i] as number;
      const bus = buses[frames.bus[i] as number] ?? `#${frames.bus[i]}`;
      const kind: Kind = (id & ERROR) !== 0 ? 'Error' : (id & REMOTE) !== 0 ? 'Remote' : 'Data';
      const key = `${kind} ${bus}`;
      const group = groups.get(key) ?? { kind, bus, rows: [] };
      groups.set(key, group);
      const length = frames.length[i] as number;
      const offset = frames.offset[i] as number;
      const bytes = frames.data.subarray(offset, offset + (kind === 'Remote' ? 0 : length));
      group.rows.push({ at: frames.at[i] as number, id, flags: frames.flags[i] as number, length, bytes });
    }
  }
  // The sort is stable: frames with equal times keep their order.
  for (const { rows } of groups.values()) rows.sort((a, b) => a.at - b.at);
  return groups;
}

function dataGroup({ kind, bus, rows }: Group, channel: number, start: number): Block {
  const payload = kind === 'Remote' ? 0 : Math.max(8, ...new Set(rows.map(({ length }) => length)));
  const size = FIXED + payload;
  const records = zeros(rows.length * size);
  const view = new DataView(records.buffer);
  for (const [i, { at, id, flags, length, bytes }] of rows.entries()) {
    const from = i * size;
    view.setBigUint64(from, BigInt(Math.round((at - start) * 1e6)), true);
    view.setUint8(from + 8, channel);
    view.setUint32(from + 9, (id & ID) + ((id & EXTENDED) === 0 ? 0 : 0x8000_0000), true);
    const bit = (mask: number, value: number): number => ((flags & mask) === 0 ? 0 : value);
    view.setUint8(from + 13, bit(SENT, 1) | bit(FD, 2) | bit(BIT_RATE_SWITCH, 4) | bit(ERROR_STATE, 8));
    view.setUint8(
      from + 14,
      lengths.findIndex((one) => one >= length),
    );
    view.setUint8(from + 15, bytes.length);
    records.set(bytes, from + FIXED);
  }
  const name = textBlock('TX', bus);
  // The source: a bus (2) of the type CAN (2).
  const source = block('SI', [name, name, undefined], Uint8Array.of(2, 2, 0), zeros(5));
  const counts = fields([8, 0n], [8, BigInt(rows.length)], [2, 6n], [2, 0x2en], [4, 0n], [4, BigInt(size)], [4, 0n]);
  const channelGroup = block('CG', [undefined, channels(kind, payload), name, source, ...nowhere(2)], counts);
  const data = rows.length === 0 ? undefined : block('DT', [], records);
  return block('DG', [undefined, channelGroup, data, undefined], zeros(8));
}

/** Returns the channels of the time (type 2: master) and of the frame with its members. */
function channels(kind: Kind, payload: number): Block | undefined {
  const name = `CAN_${kind}Frame`;
  const seconds = block(
    'CC',
    nowhere(4),
    fields([1, 1n], [1, 0n], [2, 0n], [2, 0n], [2, 2n]),
    zeros(16),
    new Uint8Array(Float64Array.of(0, 1e-9).buffer),
  );
  const members = [
    channelBlock(`${name}.BusChannel`, 8, 8),
    channelBlock(`${name}.ID`, 9, 32),
    channelBlock(`${name}.Dir`, 13, 1),
    channelBlock(`${name}.EDL`, 13, 1, { bit: 1 }),
    channelBlock(`${name}.BRS`, 13, 1, { bit: 2 }),
    channelBlock(`${name}.ESI`, 13, 1, { bit: 3 }),
    channelBlock(`${name}.DLC`, 14, 4),
    channelBlock(`${name}.DataLength`, 15, 8),
    ...(payload === 0 ? [] : [channelBlock(`${name}.DataBytes`, FIXED, payload * 8, { dataType: 10 })]),
  ];
  const composition = chain(members);
  return chain([
    channelBlock('Timestamp', 0, 64, { type: 2, sync: 1, conversion: seconds }),
    channelBlock(name, 8, (FIXED - 8 + payload) * 8, {
      dataType: 10,
      ...defined({ composition }),
    }),
  ]);
}

interface ChannelOptions {
  readonly type?: number;
  readonly sync?: number;
  /** 0: an unsigned number with the lowest byte first; 10: bytes. */
  readonly dataType?: number;
  readonly bit?: number;
  readonly conversion?: Block;
  readonly composition?: Block;
}

function channelBlock(name: string, byte: number, bits: number, options: ChannelOptions = {}): Block {
  const { type = 0, sync = 0, dataType = 0, bit = 0, conversion, composition } = options;
  const links = [undefined, composition, textBlock('TX', name), undefined, conversion, ...nowhere(3)];
  const place = fields([4, BigInt(byte)], [4, BigInt(bits)]);
  return block('CN', links, Uint8Array.of(type, sync, dataType, bit), place, zeros(60));
}

/** Links each block to the next one. Returns the first block. */
function chain(blocks: readonly Block[]): Block | undefined {
  for (const [i, one] of blocks.entries()) one.links[0] = blocks[i + 1];
  return blocks[0];
}

function block(id: string, links: (Block | undefined)[], ...data: readonly Uint8Array[]): Block {
  return { id, links, data: joined(data) };
}

function textBlock(id: 'TX' | 'MD', text: string): Block {
  return block(id, [], new TextEncoder().encode(`${text}\0`));
}

function nowhere(count: number): undefined[] {
  return Array.from({ length: count }, () => undefined);
}

function zeros(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(size);
}

/** Returns consecutive integers, each with the lowest byte first. */
function fields(...values: readonly (readonly [size: 1 | 2 | 4 | 8, value: bigint])[]): Uint8Array {
  const bytes = zeros(values.reduce((sum, [size]) => sum + size, 0));
  let at = 0;
  for (const [size, value] of values) {
    for (let i = 0; i < size; i++) bytes[at++] = Number((value >> BigInt(8 * i)) & 0xffn);
  }
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = zeros(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Returns all blocks that the header leads to, records last. */
function file(header: Block): Uint8Array<ArrayBuffer> {
  const all = new Set<Block>([header]);
  // Iterating a set also visits the elements added meanwhile.
  for (const one of all) for (const link of one.links) if (link !== undefined) all.add(link);
  const ordered = [...all].sort((a, b) => Number(a.id === 'DT') - Number(b.id === 'DT'));
  const positions = new Map<Block, number>();
  let at = IDENTIFICATION;
  const sizeOf = ({ links, data }: Block): number => HEAD + 8 * links.length + data.length;
  for (const one of ordered) {
    positions.set(one, at);
    at += Math.ceil(sizeOf(one) / 8) * 8;
  }
  const bytes = zeros(at);
  const latin = new TextEncoder();
  bytes.set(latin.encode('MDF     4.10    vigie   '));
  new DataView(bytes.buffer).setUint16(28, 410, true);
  for (const one of ordered) {
    const links = one.links.map((link) => [8, BigInt(link === undefined ? 0 : (positions.get(link) ?? 0))] as const);
    const head = fields([4, 0n], [8, BigInt(sizeOf(one))], [8, BigInt(links.length)], ...links);
    const from = positions.get(one) as number;
    bytes.set(latin.encode(`##${one.id}`), from);
    bytes.set(head, from + 4);
    bytes.set(one.data, from + HEAD + 8 * links.length);
  }
  return bytes;
}
