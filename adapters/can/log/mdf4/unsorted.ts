/** The frames of an unsorted data group: records of several groups, each after its identifier (ASAM MDF 4.1 §5.7). */
import type { FrameBatch } from '../../../../agent/ports.ts';
import type { LogPart } from '../format.ts';
import { MAX_PAYLOAD_BYTES, type Recording } from '../recording.ts';
import type { Read } from './channels.ts';
import { type Cursor, partOf, RecordBytes, reportEnd, reportUnread } from './cursor.ts';
import type { Group } from './layout.ts';
import { ADDED, type FrameRecords, NO_ROOM } from './records.ts';
import type { SignalData } from './signal-data.ts';
import type { DataStream } from './stream.ts';
import { remove, VariableBytes } from './variable.ts';

/** A longer record of variable length is invalid: frames of Ethernet have at most 64 KiB. */
const MAX_RECORD_BYTES = 1024 * 1024;

/** How the records of a group are read. */
export interface GroupReader {
  readonly group: Group;
  /** For a group of frames: its reader, and the time in its records. */
  readonly frames: FrameRecords | undefined;
  readonly time: Read | undefined;
  /** Reason why its records cannot be read, although they may be frames. */
  readonly unreadable: string | undefined;
  /** Location of its frames' bytes if they are not in the records: in blocks, or in the records of another group. */
  readonly signalData: SignalData | undefined;
  readonly bytesOf: Group | undefined;
}

interface Reader extends GroupReader {
  /** Bytes of variable length that its records refer to or contain. */
  variable: VariableBytes | undefined;
  read: number;
}

export class UnsortedCursor implements Cursor {
  readonly #recording: Recording;
  readonly #idBytes: number;
  readonly #readers: ReadonlyMap<number, Reader>;
  readonly #variables: readonly VariableBytes[];
  readonly #records: RecordBytes;
  #ended = false;
  /** Data that must be loaded for the next record. */
  #loading: { readonly reader: Reader; readonly signalData: SignalData; readonly offset: number } | undefined;
  /** Indexes of the frames in the batch whose bytes are missing. */
  readonly #lost = new Set<number>();
  readonly #zeros = new Uint8Array(MAX_PAYLOAD_BYTES);

  /** @param inOrder true if the offsets of bytes of variable length are unreliable */
  constructor(
    recording: Recording,
    idBytes: number,
    readers: readonly GroupReader[],
    stream: DataStream,
    inOrder: boolean,
  ) {
    this.#recording = recording;
    this.#idBytes = idBytes;
    this.#records = new RecordBytes(stream);
    const variables = new Map<Group, VariableBytes>();
    for (const { bytesOf } of readers) {
      if (bytesOf !== undefined && !variables.has(bytesOf)) variables.set(bytesOf, new VariableBytes(inOrder));
    }
    this.#variables = [...variables.values()];
    this.#readers = new Map(
      readers.map((reader) => {
        const variable = variables.get(reader.bytesOf ?? reader.group);
        return [reader.group.recordId, { ...reader, variable, read: 0 }];
      }),
    );
  }

  get parts(): readonly LogPart[] {
    return [...this.#readers.values()]
      .filter(({ frames, unreadable }) => frames !== undefined || unreadable !== undefined)
      .map(({ group, read, unreadable }) => partOf(group, unreadable === undefined ? read : 0, unreadable));
  }

  async fill(batch: FrameBatch): Promise<boolean> {
    const records = this.#records;
    while (!this.#ended) {
      const step = this.#scan(batch);
      if (step === FULL) {
        this.#settle(batch);
        return true;
      }
      if (step === MORE) {
        if (await records.more()) continue;
        this.#ended = true;
        this.#end(batch);
      } else if (step === DAMAGED) {
        this.#ended = true;
        this.#end(batch);
      } else await this.#load();
    }
    return false;
  }

  /** Reads the records that are loaded; returns {@link FULL}, {@link MORE}, {@link DAMAGED} or {@link LOAD}. */
  #scan(batch: FrameBatch): number {
    const records = this.#records;
    const { view, bytes } = records;
    const idBytes = this.#idBytes;
    for (;;) {
      if (records.left < idBytes) return MORE;
      const at = records.at + idBytes;
      const reader = this.#readers.get(identifierAt(view, records.at, idBytes));
      if (reader === undefined) {
        const reason = 'a record has an unknown identifier';
        const id = identifierAt(view, records.at, idBytes);
        this.#recording.fault(0, `${reason} (${id}): nothing behind it can be read`, reason);
        return DAMAGED;
      }
      const { group } = reader;
      if (group.variable) {
        if (bytes.length < at + 4) return MORE;
        const length = view.getUint32(at, true);
        if (length > MAX_RECORD_BYTES) {
          const reason = 'a record claims an impossible length';
          this.#recording.fault(0, `${reason} (${length}): nothing behind it can be read`, reason);
          return DAMAGED;
        }
        if (bytes.length < at + 4 + length) return MORE;
        const short = reader.variable?.came(batch, bytes, at + 4, at + 4 + length) ?? -1;
        if (short >= 0) this.#lose(short, 'a frame has fewer bytes than it says');
        records.at = at + 4 + length;
      } else {
        const next = at + group.dataBytes + group.invalidBytes;
        if (bytes.length < next) return MORE;
        if (reader.frames !== undefined) {
          const result = this.#frame(batch, reader, reader.frames, at);
          if (result !== ADDED) return result;
        } else if (reader.unreadable === undefined) this.#recording.passOver(group.contents);
        reader.read++;
        records.at = next;
      }
    }
  }

  /** Adds a frame; returns {@link ADDED}, {@link FULL}, or {@link LOAD} if its bytes must be loaded first. */
  #frame(batch: FrameBatch, reader: Reader, frames: FrameRecords, at: number): number {
    const { view, bytes } = this.#records;
    const { signalData, variable } = reader;
    const seconds = reader.time?.(view, at) ?? Number.NaN;
    let result: number;
    if (variable !== undefined) result = this.#variable(batch, variable, frames, seconds, at);
    else if (signalData === undefined || frames.length(view, at) === 0) {
      const { byte, most } = frames.inline;
      result = frames.add(batch, seconds, view, at, bytes, at + byte, at + byte + most);
    } else {
      const offset = frames.offset(view, at);
      const found = signalData.find(offset);
      if (found < 0) {
        this.#loading = { reader, signalData, offset };
        return LOAD;
      }
      const to = found + signalData.lengthAt(found);
      result = frames.add(batch, seconds, view, at, signalData.bytes, found, to);
    }
    if (result === NO_ROOM) return FULL;
    if (result !== ADDED) this.#recording.fault(0, frames.fault);
    return ADDED;
  }

  /** Loads data of the next record. Leaves the record out if the data do not exist. */
  async #load(): Promise<void> {
    const loading = this.#loading;
    if (loading === undefined || (await loading.signalData.load(loading.offset))) return;
    this.#recording.fault(0, 'the bytes of a frame are missing');
    const { group } = loading.reader;
    this.#records.at += this.#idBytes + group.dataBytes + group.invalidBytes;
    loading.reader.read++;
  }

  #variable(batch: FrameBatch, variable: VariableBytes, frames: FrameRecords, seconds: number, at: number): number {
    const { view } = this.#records;
    const key = variable.keyOf(frames.offset(view, at));
    if (batch.count >= batch.at.length) return NO_ROOM;
    const found = variable.take(key);
    variable.passed();
    if (found !== undefined) return frames.add(batch, seconds, view, at, found, 0, found.length);
    const index = batch.count;
    const result = frames.add(batch, seconds, view, at, this.#zeros, 0, MAX_PAYLOAD_BYTES);
    const wanted = frames.length(view, at);
    if (result === ADDED && wanted !== 0) variable.await(key, index, wanted);
    return result;
  }

  #lose(index: number, why: string): void {
    this.#recording.fault(0, why);
    this.#lost.add(index);
  }

  /** Call before a batch is returned: removes the frames whose bytes are missing. */
  #settle(batch: FrameBatch): void {
    for (const variable of this.#variables) {
      for (const index of variable.giveUp()) this.#lose(index, 'the bytes of a frame are missing');
    }
    remove(batch, this.#lost);
    this.#lost.clear();
  }

  #end(batch: FrameBatch): void {
    const records = this.#records;
    this.#settle(batch);
    let { cut, left } = records;
    for (const { group, frames, read, unreadable } of this.#readers.values()) {
      if (unreadable !== undefined) reportUnread(this.#recording, group, unreadable, read);
      if (frames === undefined) continue;
      reportEnd(this.#recording, group, read, left, cut);
      // If no group contains its count, bytes that end early count as one loss, not as one per group.
      if (group.count === undefined) {
        cut = undefined;
        left = 0;
      }
    }
  }
}

const FULL = -1;
const MORE = -2;
const DAMAGED = -3;
const LOAD = -4;

function identifierAt(view: DataView, at: number, size: number): number {
  switch (size) {
    case 1:
      return view.getUint8(at);
    case 2:
      return view.getUint16(at, true);
    case 4:
      return view.getUint32(at, true);
    default:
      return view.getUint32(at + 4, true) * 4_294_967_296 + view.getUint32(at, true);
  }
}
