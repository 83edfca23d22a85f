/** Writes MDF4 bus logs for tests, according to ASAM MDF 4.1 and its associated standard "Bus Logging" 1.0. */

import { deflateSync, zstdCompressSync } from 'node:zlib';
import { BIT_RATE_SWITCH, ERROR, ERROR_STATE, EXTENDED, FD, REMOTE, SENT } from '../../../../agent/ports.ts';
import { defined } from '../../../../protocol/defined.ts';
import type { Frame } from './frames.ts';

export interface Mdf4 {
  /**
   * True: a group with its own data for each kind and bus. False: all records in one place, each after its record
   * identifier.
   */
  readonly sorted: boolean;
  /** Place of the payload: in the record (fixed length, or with a length channel), in ##SD, or in separate records. */
  readonly bytes: 'fixed' | 'mlsd' | 'sd' | 'records';
  /** If true, the records of payloads precede the frames that refer to them. */
  readonly bytesFirst?: boolean;
  readonly time: 'float' | 'nanoseconds';
  /** Width of a nanosecond time channel. Narrow channels hold micro- or milliseconds. `timeBit` is its first bit. */
  readonly timeBits?: number;
  readonly timeBit?: number;
  readonly timeBig?: boolean;
  /** Extended identifiers are marked by bit 31, or by a separate channel. */
  readonly ide: 'bit' | 'channel';
  readonly packing: 'plain' | 'deflate' | 'transposed' | 'zstd' | 'transposed zstd';
  /** Bytes in each data block; default: all data in one block, without a list. */
  readonly blockSize?: number | undefined;
  readonly invalidBytes?: number;
  readonly idBytes?: 1 | 2 | 4 | 8;
  /** id_unfin_flags: steps missing at the end of the file. The fields concerned are 0. */
  readonly unfinished?: number;
  /** hd_time_flags; offsets are one hour. */
  readonly timeFlags?: number;
  readonly version?: string;
}

export const start = 1_436_509_052_000;
const HEAD = 24;

/** A block whose position is not yet known. */
interface Block {
  readonly id: string;
  links: (Block | undefined)[];
  data: Buffer;
  /** The length in the block header, if it differs from the true one. */
  length?: number;
}

const block = (id: string, links: (Block | undefined)[], data: Buffer = Buffer.alloc(0)): Block => ({
  id,
  links,
  data,
});
const text = (value: string): Block => block('TX', [], Buffer.from(`${value}\0`));

/** Concatenates fields, little-endian: [size, value] or bytes. */
function pack(...fields: readonly (readonly [1 | 2 | 4 | 8, number] | Buffer)[]): Buffer {
  return Buffer.concat(
    fields.map((field) => {
      if (Buffer.isBuffer(field)) return field;
      const [size, value] = field;
      const bytes = Buffer.alloc(size);
      if (size === 8) bytes.writeBigUInt64LE(BigInt(Math.round(value)));
      else bytes.writeUIntLE(value, 0, size);
      return bytes;
    }),
  );
}

function float(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

interface ChannelOptions {
  readonly type?: number;
  readonly sync?: number;
  readonly dataType?: number;
  readonly bit?: number;
  readonly conversion?: Block;
  readonly data?: Block;
  readonly composition?: Block;
}

function channel(name: string, byte: number, bits: number, options: ChannelOptions = {}): Block {
  const { type = 0, sync = 0, dataType = 0, bit = 0, conversion, data, composition } = options;
  return block(
    'CN',
    [undefined, composition, text(name), undefined, conversion, data, undefined, undefined],
    pack([1, type], [1, sync], [1, dataType], [1, bit], [4, byte], [4, bits], Buffer.alloc(60)),
  );
}

function chain(blocks: readonly Block[]): Block | undefined {
  blocks.forEach((one, i) => {
    one.links[0] = blocks[i + 1];
  });
  return blocks[0];
}

type Kind = 'Data' | 'Remote' | 'Error';

const kindOf = (frame: Frame): Kind =>
  (frame.id & ERROR) !== 0 ? 'Error' : (frame.id & REMOTE) !== 0 ? 'Remote' : 'Data';
const code = (length: number) => [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64].indexOf(length);

/** Ticks per second of a time channel of this width. */
export const perSecond = (bits: number): number => (bits < 24 ? 1e3 : bits < 40 ? 1e6 : 1e9);

/** An integer at any bit position; all other bits are set. */
function timeOf(seconds: number, { timeBits = 64, timeBit = 0, timeBig = false }: Mdf4): Buffer {
  const size = Math.ceil((timeBits + timeBit) / 8);
  const value = BigInt(Math.round(seconds * perSecond(timeBits)));
  const mask = ((1n << BigInt(timeBits)) - 1n) << BigInt(timeBit);
  const all = (((1n << BigInt(8 * size)) - 1n) ^ mask) | (value << BigInt(timeBit));
  const bytes = Buffer.alloc(8, 0xff);
  for (let i = 0; i < size; i++) bytes[timeBig ? size - 1 - i : i] = Number((all >> BigInt(8 * i)) & 0xffn);
  return bytes;
}

/** A record: 8 bytes time, 1 channel, 4 identifier, 1 flags, 1 code, 1 length, then the payload. */
function recordOf(frame: Frame, offset: number, options: Mdf4): Buffer {
  const { time, ide, bytes, invalidBytes = 0 } = options;
  const seconds = (frame.at - start) / 1000;
  const extended = (frame.id & EXTENDED) !== 0;
  const mark = ide === 'bit' ? 0x8000_0000 : 0x2000_0000;
  const id = (frame.id & 0x1fff_ffff) + (extended ? mark : 0);
  const flag = (mask: number, bit: number) => ((frame.flags & mask) !== 0 ? bit : 0);
  const flags = flag(SENT, 1) | flag(FD, 2) | flag(BIT_RATE_SWITCH, 4) | flag(ERROR_STATE, 8);
  const payload = Buffer.alloc(64);
  Buffer.from(frame.data, 'hex').copy(payload);
  const kind = kindOf(frame);
  return pack(
    time === 'float' ? float(seconds) : timeOf(seconds, options),
    [1, Number(frame.bus.slice(3)) + 1],
    [4, id],
    [1, flags],
    [1, code(frame.length)],
    [1, kind === 'Remote' ? 0 : frame.length],
    kind !== 'Data' ? Buffer.alloc(0) : bytes === 'fixed' || bytes === 'mlsd' ? payload : pack([8, offset]),
    Buffer.alloc(invalidBytes),
  );
}

function channelsOf(kind: Kind, options: Mdf4, bytesAt: Block | undefined): Block | undefined {
  const name = `CAN_${kind}Frame`;
  const { timeBits = 64, timeBit = 0, timeBig = false } = options;
  const nanoseconds = block(
    'CC',
    [undefined, undefined, undefined, undefined],
    pack([1, 1], [1, 0], [2, 0], [2, 0], [2, 2], Buffer.alloc(16), float(0), float(1 / perSecond(timeBits))),
  );
  const master =
    options.time === 'float'
      ? channel('Timestamp', 0, 64, { type: 2, sync: 1, dataType: 4 })
      : channel('Timestamp', 0, timeBits, {
          type: 2,
          sync: 1,
          dataType: timeBig ? 1 : 0,
          bit: timeBit,
          conversion: nanoseconds,
        });
  const length = channel(`${name}.DataLength`, 15, 7);
  const inside = options.bytes === 'fixed' || options.bytes === 'mlsd';
  const type = options.bytes === 'fixed' ? 0 : options.bytes === 'mlsd' ? 5 : 1;
  const data = options.bytes === 'mlsd' ? length : bytesAt;
  const members = [
    channel(`${name}.BusChannel`, 8, 8),
    channel(`${name}.ID`, 9, options.ide === 'bit' ? 32 : 29),
    ...(options.ide === 'channel' ? [channel(`${name}.IDE`, 12, 1, { bit: 5 })] : []),
    channel(`${name}.Dir`, 13, 1),
    channel(`${name}.EDL`, 13, 1, { bit: 1 }),
    channel(`${name}.BRS`, 13, 1, { bit: 2 }),
    channel(`${name}.ESI`, 13, 1, { bit: 3 }),
    channel(`${name}.DLC`, 14, 4),
    length,
    ...(kind === 'Data'
      ? [
          channel(`${name}.DataBytes`, 16, inside ? 512 : 64, {
            type,
            dataType: 10,
            ...defined({ data }),
          }),
        ]
      : []),
  ];
  const first = chain(members);
  const size = kind === 'Data' ? (inside ? 72 : 16) : 8;
  const composed = channel(name, 8, size * 8, { dataType: 10, ...defined({ composition: first }) });
  return chain([master, composed]);
}

const dataSize = (kind: Kind, { bytes }: Mdf4) =>
  16 + (kind !== 'Data' ? 0 : bytes === 'fixed' || bytes === 'mlsd' ? 64 : 8);

function groupOf(kind: Kind, recordId: number, count: number, options: Mdf4, bytesAt: Block | undefined): Block {
  const { unfinished = 0, invalidBytes = 0 } = options;
  const source = block('SI', [text('CAN'), text('CAN'), undefined], pack([1, 2], [1, 2], [1, 0], Buffer.alloc(5)));
  return block(
    'CG',
    [undefined, channelsOf(kind, options, bytesAt), text('CAN'), source, undefined, undefined],
    pack(
      [8, recordId],
      [8, (unfinished & 1) === 0 ? count : 0],
      [2, 6],
      [2, 0x2e],
      Buffer.alloc(4),
      [4, dataSize(kind, options)],
      [4, invalidBytes],
    ),
  );
}

/** The block that holds the data: a single data block, or a list of several. */
function dataOf(bytes: Buffer, id: 'DT' | 'SD', stride: number, options: Mdf4): Block | undefined {
  const { packing, blockSize, unfinished = 0 } = options;
  if (bytes.length === 0) return undefined;
  const make = (part: Buffer, last: boolean): Block => {
    if (packing !== 'plain') return packed(part, id, stride, packing);
    const made = block(id, [], part);
    if (last && id === 'DT' && (unfinished & 4) !== 0) made.length = HEAD;
    return made;
  };
  if (blockSize === undefined) return make(bytes, true);
  const parts: Block[] = [];
  for (let at = 0; at < bytes.length; at += blockSize) {
    parts.push(make(bytes.subarray(at, at + blockSize), at + blockSize >= bytes.length));
  }
  // Two blocks per list, so that there are several lists.
  const lists: Block[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const links = parts.slice(at, at + 2);
    // An unfinished list has unused entries.
    const spare = (unfinished & 0x10) !== 0 && at + 2 >= parts.length ? [undefined, undefined] : [];
    const count = links.length + spare.length;
    const offsets = links.map((_, i): readonly [8, number] => [8, (at + i) * blockSize]);
    lists.push(
      block(
        'DL',
        [undefined, ...links, ...spare],
        pack([1, 0], Buffer.alloc(3), [4, count], ...offsets, Buffer.alloc(8 * spare.length)),
      ),
    );
  }
  const first = chain(lists);
  return packing === 'plain' ? first : block('HL', [first], pack([2, 0], [1, 0], Buffer.alloc(5)));
}

function packed(part: Buffer, id: string, stride: number, packing: Exclude<Mdf4['packing'], 'plain'>): Block {
  const transposed = packing.startsWith('transposed');
  const zstd = packing.endsWith('zstd');
  const turned = transposed ? transpose(part, stride) : part;
  const bytes = zstd ? zstdCompressSync(turned) : deflateSync(turned);
  const method = (transposed ? 1 : 0) + (zstd ? 2 : 0);
  const head = pack([1, method], [1, 0], [4, transposed ? stride : 0], [8, part.length], [8, bytes.length]);
  return block('DZ', [], Buffer.concat([Buffer.from(id), head, bytes]));
}

function transpose(bytes: Buffer, columns: number): Buffer {
  const rows = Math.floor(bytes.length / columns);
  const result = Buffer.from(bytes);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      result[column * rows + row] = bytes[row * columns + column] as number;
    }
  }
  return result;
}

const variable = (bytes: Buffer): Buffer => pack([4, bytes.length], bytes);

/** Groups of a sorted file: each kind and bus has a separate data group. */
function sortedGroups(frames: readonly Frame[], options: Mdf4): Block[] {
  const groups = new Map<string, Frame[]>();
  for (const frame of frames) {
    const name = `${kindOf(frame)} ${frame.bus}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [frame]);
    else group.push(frame);
  }
  return [...groups.values()].map((members) => {
    const kind = kindOf(members[0] as Frame);
    const signal: Buffer[] = [];
    let offset = 0;
    const records = members.map((frame) => {
      const record = recordOf(frame, offset, options);
      if (kind === 'Data' && options.bytes === 'sd') {
        signal.push(variable(Buffer.from(frame.data, 'hex')));
        offset += 4 + frame.length;
      }
      return record;
    });
    const stride = dataSize(kind, options) + (options.invalidBytes ?? 0);
    const signalData = dataOf(Buffer.concat(signal), 'SD', 8, options);
    const data = dataOf(Buffer.concat(records), 'DT', stride, options);
    const group = groupOf(kind, 0, members.length, options, signalData);
    return block('DG', [undefined, group, data, undefined], pack([1, 0], Buffer.alloc(7)));
  });
}

/** One data group with all records in the order of the frames. */
function unsortedGroup(frames: readonly Frame[], options: Mdf4): Block {
  const { idBytes = 1, bytesFirst = false, unfinished = 0 } = options;
  const ids = { Data: 1, bytes: 2, Remote: 3, Error: 4 };
  const records: Buffer[] = [];
  const signal: Buffer[] = [];
  let offset = 0;
  for (const frame of frames) {
    const kind = kindOf(frame);
    const known = (unfinished & 0x40) === 0 || options.bytes === 'sd' ? offset : 0;
    const record = pack([idBytes, ids[kind]], recordOf(frame, known, options));
    const bytes = variable(Buffer.from(frame.data, 'hex'));
    const apart = kind === 'Data' && (options.bytes === 'records' || options.bytes === 'sd');
    if (apart) offset += bytes.length;
    if (apart && options.bytes === 'sd') signal.push(bytes);
    const bytesRecord = apart && options.bytes === 'records' ? [pack([idBytes, ids.bytes], bytes)] : [];
    records.push(...(bytesFirst ? [...bytesRecord, record] : [record, ...bytesRecord]));
  }
  const size = (unfinished & 0x20) === 0 ? offset : 0;
  const bytesGroup = block(
    'CG',
    [undefined, undefined, undefined, undefined, undefined, undefined],
    pack([8, ids.bytes], [8, 0], [2, 1], [2, 0], Buffer.alloc(4), [4, size], [4, 0]),
  );
  const bytesAt = options.bytes === 'records' ? bytesGroup : dataOf(Buffer.concat(signal), 'SD', 8, options);
  const kinds = (['Data', 'Remote', 'Error'] as const).filter((kind) => frames.some((frame) => kindOf(frame) === kind));
  const groups = kinds.map((kind) =>
    groupOf(kind, ids[kind], frames.filter((frame) => kindOf(frame) === kind).length, options, bytesAt),
  );
  const first = chain(options.bytes === 'records' ? [...groups, bytesGroup] : groups);
  const data = dataOf(Buffer.concat(records), 'DT', 16, options);
  return block('DG', [undefined, first, data, undefined], pack([1, idBytes], Buffer.alloc(7)));
}

/** @param extra further data groups */
export function mdf4(frames: readonly Frame[], options: Mdf4, extra: readonly Block[] = []): Buffer {
  const { sorted, unfinished = 0, timeFlags = 0, version = '4.10' } = options;
  const groups = [...extra, ...(sorted ? sortedGroups(frames, options) : [unsortedGroup(frames, options)])];
  const comment = block(
    'MD',
    [],
    Buffer.from(
      '<FHcomment><TX>t</TX><tool_id>t</tool_id><tool_vendor>t</tool_vendor><tool_version>1</tool_version></FHcomment>\0',
    ),
  );
  const history = block('FH', [undefined, comment], pack([8, start * 1e6], [2, 0], [2, 0], [1, 0], Buffer.alloc(3)));
  const offsets = timeFlags === 0 ? 0 : 60;
  const header = block(
    'HD',
    [chain(groups), history, undefined, undefined, undefined, undefined],
    pack([8, start * 1e6], [2, offsets], [2, 0], [1, timeFlags], [1, 0], [1, 0], [1, 0], Buffer.alloc(16)),
  );
  const id = Buffer.alloc(64);
  id.write(unfinished === 0 ? 'MDF     ' : 'UnFinMF ');
  id.write(version.padEnd(8), 8);
  id.write('test    ', 16);
  id.writeUInt16LE(Math.round(Number(version) * 100), 28);
  id.writeUInt16LE(unfinished, 60);
  return Buffer.concat([id, ...written(header)]);
}

/** A data group with one channel group, whose channels have these names. */
export function otherGroup(names: readonly string[], count: number, flags = 0): Block {
  const channels = [
    channel('t', 0, 64, { type: 2, sync: 1, dataType: 4 }),
    ...names.map((name, i) => channel(name, 8 + i, 8)),
  ];
  const size = 8 + names.length;
  const group = block(
    'CG',
    [undefined, chain(channels), undefined, undefined, undefined, undefined],
    pack([8, 0], [8, count], [2, flags], [2, 0x2e], Buffer.alloc(4), [4, size], [4, 0]),
  );
  return block(
    'DG',
    [undefined, group, block('DT', [], Buffer.alloc(size * count)), undefined],
    pack([1, 0], Buffer.alloc(7)),
  );
}

/** All blocks reachable from the header, data blocks last, so that a cut at the end loses only data. */
function written(header: Block): Buffer[] {
  const all = new Set<Block>([header]);
  // The loop also visits the blocks that it adds to the set.
  for (const one of all) for (const link of one.links) if (link !== undefined) all.add(link);
  const isData = ({ id }: Block) => id === 'DT' || id === 'SD' || id === 'DZ';
  const order = [...[...all].filter((one) => !isData(one)), ...[...all].filter(isData)];
  const positions = new Map<Block, number>();
  let at = 64;
  for (const one of order) {
    positions.set(one, at);
    at += Math.ceil((HEAD + 8 * one.links.length + one.data.length) / 8) * 8;
  }
  return order.map((one, i) => {
    const size = HEAD + 8 * one.links.length + one.data.length;
    const links = one.links.map((link): readonly [8, number] => [
      8,
      link === undefined ? 0 : (positions.get(link) as number),
    ]);
    const padding = i === order.length - 1 ? 0 : Math.ceil(size / 8) * 8 - size;
    return pack(
      Buffer.from(`##${one.id}\0\0\0\0`),
      [8, one.length ?? size],
      [8, one.links.length],
      ...links,
      one.data,
      Buffer.alloc(padding),
    );
  });
}
