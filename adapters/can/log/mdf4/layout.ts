/**
 * Contents of an MDF4 file: groups of records and, for frames of a CAN bus, the positions of the parts of a frame in a
 * record (ASAM MDF 4.1, and its associated standard "Bus Logging" 1.0).
 */
import { type Block, type Blocks, Damage, number64 } from './blocks.ts';
import {
  channelOf,
  endOf,
  MASTER,
  type MdfChannel,
  MLSD,
  offsetReader,
  type Read,
  secondsReader,
  unsignedReader,
  VLSD,
} from './channels.ts';

/** Unfinished steps of a file that was not finalised (id_unfin_flags). */
export const LAST_LENGTH = 4;
const COUNTERS = 1;
const VLSD_OFFSETS = 0x40;
/** cg_flags: the records are of variable length; their time lies in another group. */
const VLSD_GROUP = 1;
const REMOTE_MASTER = 8;

const NO_TIME = 'they have no time';
const ID_SIZE = 64;
const MOST_GROUPS = 65_536;
/** Maximum number of channels that are examined to find the structure of a frame, and of members of that structure. */
const MOST_CHANNELS = 64;

export type EventKind = 'DataFrame' | 'RemoteFrame' | 'ErrorFrame' | 'OverloadFrame';

/** Positions of the parts of a frame in a record; undefined for a part that is not recorded. */
export interface FrameFields {
  readonly id: Read | undefined;
  readonly ide: Read | undefined;
  readonly channel: Read | undefined;
  readonly dlc: Read | undefined;
  readonly length: Read | undefined;
  readonly sent: Read | undefined;
  readonly fd: Read | undefined;
  readonly bitRateSwitch: Read | undefined;
  readonly errorState: Read | undefined;
  readonly payload: Payload | undefined;
}

export type Payload =
  /** In the record, at most `most` bytes. */
  | { readonly kind: 'inline'; readonly byte: number; readonly most: number }
  /** At an offset in the data that `link` leads to: blocks, or a group of records of variable length. */
  | { readonly kind: 'offset'; readonly offset: Read; readonly link: number };

export interface Group {
  readonly position: number;
  /** Number in the order of the file, from 1. `name` is usually the name of a bus. */
  readonly number: number;
  readonly name: string;
  readonly recordId: number;
  /** Expected number of records; undefined if the file does not contain it. */
  readonly count: number | undefined;
  readonly dataBytes: number;
  readonly invalidBytes: number;
  /** Position of the group whose records contain the times of this group's records, one each; 0 if there is none. */
  readonly master: number;
  /** True if its records are bytes of variable length that frames of another group refer to. */
  readonly variable: boolean;
  /** Number of the bus from 1, if the records do not contain it; 0 if unknown. */
  readonly bus: number;
  readonly event: EventKind | undefined;
  readonly fields: FrameFields | undefined;
  /** Reads the seconds since the start; or the reason why the records have no readable time. */
  readonly time: Read | string;
  /** Reason why its channels cannot be read. */
  readonly damage?: string;
  /** Kind of its records, for users. */
  readonly contents: string;
}

export interface DataGroup {
  /** Size in bytes of the identifier before each record: 0 in a sorted group. */
  readonly idBytes: number;
  readonly data: number;
  readonly groups: readonly Group[];
}

export interface MdfLayout {
  /** UTC milliseconds. Unconverted local time if the file has no other. */
  readonly start: number;
  readonly unfinished: number;
  /** True if offsets of bytes of variable length are unreliable: the bytes are then in the order of the frames. */
  readonly inOrder: boolean;
  readonly dataGroups: readonly DataGroup[];
  /** Reasons why there may be more groups. */
  readonly damage: readonly string[];
}

/**
 * Reads the groups. Unreadable groups have a reason in the layout: the file may be truncated anywhere.
 * @throws Damage without a header
 */
export async function readLayout(blocks: Blocks): Promise<MdfLayout> {
  const id = await blocks.bytes(0, ID_SIZE);
  if (id.length < ID_SIZE) throw new Damage('the file ends within its first block');
  const unfinalised = String.fromCharCode(...id.subarray(0, 2)) === 'Un';
  // Writers mark different steps as unfinished, so counts and the last length of such a file are never relied on.
  const unfinished = unfinalised ? (id[60] as number) | ((id[61] as number) << 8) | COUNTERS | LAST_LENGTH : 0;
  const header = await blocks.block(ID_SIZE, ['HD'], 6, 13);
  const dataGroups: DataGroup[] = [];
  const damage: string[] = [];
  let number = 0;
  await untilDamage(damage, async () => {
    for await (const block of blocks.chain(header.links[0] as number, 'DG', 4, 1)) {
      const groups: Group[] = [];
      dataGroups.push({ idBytes: block.data.getUint8(0), data: block.links[2] as number, groups });
      await untilDamage(damage, async () => {
        for await (const group of blocks.chain(block.links[1] as number, 'CG', 6, 32)) {
          groups.push(await readGroup(group, ++number, blocks, unfinished));
        }
      });
      if (dataGroups.length > MOST_GROUPS) throw new Damage(`there are more than ${MOST_GROUPS} groups`);
    }
  });
  return { start: startOf(header), unfinished, inOrder: (unfinished & VLSD_OFFSETS) !== 0, dataGroups, damage };
}

async function untilDamage(damage: string[], read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    damage.push(error.message);
  }
}

/**
 * Nanoseconds at 0, offsets of local time in minutes at 8 and 10, flags at 12 (§5.4.2). The nanoseconds are UTC, with
 * or without offsets, or else local time of an unknown zone, which is used unchanged, as in logs of other formats.
 */
function startOf({ data }: Block): number {
  const low = data.getUint32(0, true);
  const high = data.getUint32(4, true) * 4_294_967_296;
  // A double cannot hold today's date in nanoseconds.
  return Math.floor(high / 1_000_000) + ((high % 1_000_000) + low) / 1_000_000;
}

async function readGroup(block: Block, number: number, blocks: Blocks, unfinished: number): Promise<Group> {
  const { data, position } = block;
  const flags = data.getUint16(16, true);
  const variable = (flags & VLSD_GROUP) !== 0;
  const count = number64(data, 8);
  const group = {
    position,
    number,
    name: '',
    recordId: number64(data, 0),
    count: (unfinished & COUNTERS) !== 0 ? undefined : count,
    dataBytes: data.getUint32(24, true),
    invalidBytes: data.getUint32(28, true),
    variable,
    master: (flags & REMOTE_MASTER) === 0 ? 0 : (block.links[6] ?? 0),
    bus: 0,
    event: undefined,
    fields: undefined,
    time: NO_TIME,
    contents: 'bytes',
  };
  if (variable) return group;
  try {
    return await withChannels(block, group, blocks);
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    return { ...group, contents: 'a damaged group', damage: error.message };
  }
}

async function withChannels({ links }: Block, group: Group, blocks: Blocks): Promise<Group> {
  const channels: MdfChannel[] = [];
  for await (const one of blocks.chain(links[1] as number, 'CN', 8, 24)) {
    channels.push(await channelOf(one, blocks));
    if (channels.length >= MOST_CHANNELS) break;
  }
  const time = await timeOf(channels, group.dataBytes, blocks);
  const frame = channels.find(({ name }) => eventOf(name) !== undefined);
  const event = eventOf(frame?.name ?? '');
  const name = await blocks.text(links[2] as number);
  if (frame === undefined || event === undefined) return { ...group, name, time, contents: contentsOf(channels) };
  const members = frame.composition === 0 ? channels : await membersOf(frame, blocks);
  return {
    ...group,
    name,
    bus: Number(/CAN\D{0,3}(\d{1,3})/i.exec(name)?.[1] ?? 0),
    event,
    fields: await fieldsOf(members, group.dataBytes, blocks),
    time,
    contents: `CAN_${event}`,
  };
}

function eventOf(name: string): EventKind | undefined {
  return /^CAN_(DataFrame|RemoteFrame|ErrorFrame|OverloadFrame)(?![A-Za-z])/.exec(name)?.[1] as EventKind | undefined;
}

/** Frames of other buses by the first part of their channels' names (Bus Logging 1.0); other records are values. */
const others: readonly (readonly [RegExp, string])[] = [
  [/^LIN_/, 'LIN frames'],
  [/^FLX_/, 'FlexRay frames'],
  [/^ETH_/, 'Ethernet frames'],
  [/^MOST_/, 'MOST messages'],
  [/^(KLINE|K_LINE|KLN)_/, 'K-Line messages'],
  [/^USB_/, 'USB packets'],
];

function contentsOf(channels: readonly MdfChannel[]): string {
  const kind = others.find(([pattern]) => channels.some(({ name }) => pattern.test(name)));
  return kind?.[1] ?? 'samples of measured values';
}

async function membersOf(frame: MdfChannel, blocks: Blocks): Promise<MdfChannel[]> {
  const members: MdfChannel[] = [];
  for await (const block of blocks.chain(frame.composition, 'CN', 8, 24)) {
    members.push(await channelOf(block, blocks));
    if (members.length >= MOST_CHANNELS) break;
  }
  return members;
}

async function fieldsOf(members: readonly MdfChannel[], dataBytes: number, blocks: Blocks): Promise<FrameFields> {
  const find = (name: string): MdfChannel | undefined =>
    members.find(
      (member) => member.name.slice(member.name.lastIndexOf('.') + 1) === name && endOf(member) <= dataBytes,
    );
  const read = (name: string): Read | undefined => {
    const channel = find(name);
    return channel === undefined ? undefined : unsignedReader(channel);
  };
  const bytes = find('DataBytes');
  return {
    id: read('ID'),
    ide: read('IDE'),
    channel: read('BusChannel'),
    dlc: read('DLC'),
    length: read('DataLength') ?? (await lengthOf(bytes, dataBytes, blocks)),
    sent: read('Dir'),
    fd: read('EDL'),
    bitRateSwitch: read('BRS'),
    errorState: read('ESI'),
    payload: bytes === undefined ? undefined : payloadOf(bytes),
  };
}

async function timeOf(channels: readonly MdfChannel[], dataBytes: number, blocks: Blocks): Promise<Read | string> {
  const master = channels.find((channel) => channel.type === MASTER && channel.isTime);
  if (master === undefined) return NO_TIME;
  return endOf(master) <= dataBytes ? secondsReader(master, blocks) : 'their time lies behind their end';
}

/** Returns a reader of the channel that states the number of valid bytes of another channel, if there is one. */
async function lengthOf(bytes: MdfChannel | undefined, dataBytes: number, blocks: Blocks): Promise<Read | undefined> {
  if (bytes?.type !== MLSD || bytes.data === 0) return undefined;
  const channel = await channelOf(await blocks.block(bytes.data, ['CN'], 8, 24), blocks);
  return endOf(channel) <= dataBytes ? unsignedReader(channel) : undefined;
}

function payloadOf(channel: MdfChannel): Payload | undefined {
  if (channel.type !== VLSD) return { kind: 'inline', byte: channel.byte, most: Math.floor(channel.bits / 8) };
  const offset = offsetReader(channel);
  return offset === undefined ? undefined : { kind: 'offset', offset, link: channel.data };
}
