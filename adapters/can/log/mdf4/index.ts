/**
 * ASAM MDF 4.0 to 4.3 with a bus log: frames of CAN and CAN FD, remote and error frames, as loggers and measurement
 * tools write them ("Bus Logging" 1.0). Groups are sorted or not, plain or compressed, finished or not; frames of
 * several groups come in the order of their times. Channel n is the bus `can(n-1)`.
 */
import { VigieError } from '../../../../protocol/errors.ts';
import type { FrameFile } from '../format.ts';
import type { LogFile } from '../input.ts';
import type { Recording } from '../recording.ts';
import { Blocks, Damage } from './blocks.ts';
import { type Cursor, RecordBytes, UnreadCursor } from './cursor.ts';
import { type DataGroup, type Group, type MdfLayout, readLayout } from './layout.ts';
import { Merge } from './merge.ts';
import { FrameRecords } from './records.ts';
import { SignalData } from './signal-data.ts';
import { type SortedBytes, SortedCursor } from './sorted.ts';
import { DataStream } from './stream.ts';
import { type GroupReader, UnsortedCursor } from './unsorted.ts';

/** Maximum number of groups of frames: each uses memory for reading ahead. */
const MOST_CURSORS = 256;
/** Sizes of record identifiers (dg_rec_id_size). */
const idSizes: readonly number[] = [0, 1, 2, 4, 8];

export async function openMdf4(file: LogFile, recording: Recording): Promise<FrameFile> {
  const blocks = new Blocks(file);
  const fail = (what: string, cause?: unknown): VigieError =>
    new VigieError('input.malformed', what, { where: recording.file, cause });
  let layout: MdfLayout;
  const cursors: Cursor[] = [];
  try {
    layout = await readLayout(blocks);
    const damage = [...layout.damage];
    for (const dataGroup of layout.dataGroups) {
      try {
        cursors.push(...(await cursorsOf(dataGroup, layout, blocks, recording)));
      } catch (error) {
        if (!(error instanceof Damage)) throw error;
        damage.push(error.message);
      }
    }
    const hasFrames = cursors.some(({ parts }) => parts.some(({ why }) => why === undefined));
    const [first] = [
      ...damage,
      ...layout.dataGroups.flatMap(({ groups }) => groups.flatMap((one) => one.damage ?? [])),
    ];
    if (!hasFrames && first !== undefined) throw new Damage(first);
    for (const message of new Set(damage)) recording.fault(0, `the MDF4 file is damaged: ${message}`);
  } catch (error) {
    throw error instanceof Damage ? fail(`the MDF4 file is damaged: ${error.message}`, error) : error;
  }
  if (cursors.length === 0 && recording.faults.count === 0) throw fail(withoutFrames(layout));
  if (cursors.length > MOST_CURSORS) throw fail(`the MDF4 file has more than ${MOST_CURSORS} groups of CAN frames`);
  const [only] = cursors;
  const cursor = only !== undefined && cursors.length === 1 ? only : new Merge(cursors);
  return {
    get position() {
      return blocks.position;
    },
    get parts() {
      return cursor.parts;
    },
    fill: () => cursor.fill(recording.batch),
    close: () => undefined,
  };
}

/** Returns the readers of the frames of a data group; none if it has no frames. */
async function cursorsOf(
  dataGroup: DataGroup,
  layout: MdfLayout,
  blocks: Blocks,
  recording: Recording,
): Promise<Cursor[]> {
  const { groups, idBytes, data } = dataGroup;
  if (!idSizes.includes(idBytes)) throw new Damage(`record identifiers have ${idBytes} bytes`);
  const readers = groups.map((group) => readerOf(group, dataGroup, layout, blocks, recording));
  if (readers.every(({ frames, unreadable }) => frames === undefined && unreadable === undefined)) {
    const masters = new Set(layout.dataGroups.flatMap((one) => one.groups.map(({ master }) => master)));
    for (const { contents, count, variable, position } of groups) {
      if (!variable && count !== 0 && !masters.has(position)) recording.passOver(contents, count ?? 0);
    }
    return [];
  }
  const [first] = readers;
  if (idBytes > 0) {
    const stream = new DataStream(blocks, data, layout.unfinished);
    return [new UnsortedCursor(recording, idBytes, readers, stream, layout.inOrder)];
  }
  if (groups.length > 1) throw new Damage('several groups of records have no identifiers that tell them apart');
  if (first === undefined) return [];
  const { group, frames, signalData, unreadable } = first;
  const bytes = await sortedBytes(group, data, layout, blocks);
  if (frames === undefined) {
    return unreadable === undefined ? [] : [new UnreadCursor(recording, group, unreadable, bytes.records)];
  }
  const [master, masterData] = masterOf(group, layout);
  if (typeof master?.time !== 'function')
    return [new SortedCursor(recording, group, frames, bytes, signalData, undefined)];
  const times = { ...(await sortedBytes(master, masterData, layout, blocks)), read: master.time };
  return [new SortedCursor(recording, group, frames, bytes, signalData, times)];
}

async function sortedBytes(group: Group, data: number, layout: MdfLayout, blocks: Blocks): Promise<SortedBytes> {
  // In column-oriented storage, invalidation bits have their own blocks. Reading reports data past the end of the file.
  const id =
    data === 0
      ? ''
      : await blocks.head(data).then(
          (head) => head.id,
          (error: unknown) => (error instanceof Damage ? '' : Promise.reject(error)),
        );
  const columns = id === 'LD' || id === 'DV';
  const stride = group.dataBytes + (columns ? 0 : group.invalidBytes);
  return { records: new RecordBytes(new DataStream(blocks, data, layout.unfinished)), stride };
}

/**
 * Returns the sorted group that contains the times of another group, and the position of its data (MDF 4.2,
 * cg_cg_master).
 */
function masterOf(group: Group, { dataGroups }: MdfLayout): [Group | undefined, number] {
  for (const { groups, idBytes, data } of dataGroups) {
    const [only] = groups;
    if (group.master !== 0 && only?.position === group.master && idBytes === 0) return [only, data];
  }
  return [undefined, 0];
}

function readerOf(
  group: Group,
  { groups }: DataGroup,
  layout: MdfLayout,
  blocks: Blocks,
  recording: Recording,
): GroupReader {
  const { event, fields } = group;
  const nothing = { group, frames: undefined, time: undefined, signalData: undefined, bytesOf: undefined };
  if (group.damage === undefined && (event === undefined || event === 'OverloadFrame'))
    return { ...nothing, unreadable: undefined };
  const time = typeof group.time === 'string' ? (masterOf(group, layout)[0]?.time ?? group.time) : group.time;
  const unreadable = FrameRecords.unreadable(group, time);
  if (unreadable !== undefined || fields === undefined || event === undefined) return { ...nothing, unreadable };
  const { payload } = fields;
  const elsewhere = event === 'DataFrame' && payload?.kind === 'offset' ? payload.link : undefined;
  const bytesOf = groups.find(({ position, variable }) => variable && position === elsewhere);
  const signalData =
    elsewhere === undefined || bytesOf !== undefined
      ? undefined
      : new SignalData(() => new DataStream(blocks, elsewhere, layout.unfinished));
  const frames = new FrameRecords(recording, group, fields, event, layout.start);
  return {
    group,
    frames,
    time: typeof group.time === 'string' ? undefined : group.time,
    unreadable,
    signalData,
    bytesOf,
  };
}

/** Describes the contents of a file without CAN frames. */
function withoutFrames({ dataGroups }: MdfLayout): string {
  const counts = new Map<string, number>();
  for (const { groups } of dataGroups) {
    for (const { contents, variable } of groups) {
      if (!variable) counts.set(contents, (counts.get(contents) ?? 0) + 1);
    }
  }
  const list = [...counts].map(([contents, groups]) => `${contents} in ${groups} ${groups === 1 ? 'group' : 'groups'}`);
  return `the MDF4 file has no CAN frames; it has ${list.length === 0 ? 'no records at all' : list.join(', ')}`;
}
