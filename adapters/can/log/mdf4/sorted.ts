/** The frames of a sorted group: records of one kind, one after the other (ASAM MDF 4.1 §5.7). */
import type { FrameBatch } from '../../../../agent/ports.ts';
import type { LogPart } from '../format.ts';
import type { Recording } from '../recording.ts';
import type { Read } from './channels.ts';
import { type Cursor, partOf, type RecordBytes, reportEnd } from './cursor.ts';
import type { Group } from './layout.ts';
import { ADDED, type FrameRecords, NO_ROOM } from './records.ts';
import type { SignalData } from './signal-data.ts';

/** The records of a sorted group, and the distance in bytes from one record to the next. */
export interface SortedBytes {
  readonly records: RecordBytes;
  readonly stride: number;
}

interface Times extends SortedBytes {
  readonly read: Read;
}

export class SortedCursor implements Cursor {
  readonly #recording: Recording;
  readonly #group: Group;
  readonly #frames: FrameRecords;
  readonly #records: RecordBytes;
  readonly #signalData: SignalData | undefined;
  readonly #times: Times;
  readonly #stride: number;
  /** Number of records; infinity if the file does not contain it. */
  readonly #count: number;
  #read = 0;
  #ended = false;

  /** @param elsewhere position of the times, if they are not in the records */
  constructor(
    recording: Recording,
    group: Group,
    frames: FrameRecords,
    stream: SortedBytes,
    signalData: SignalData | undefined,
    elsewhere: Times | undefined,
  ) {
    this.#recording = recording;
    this.#group = group;
    this.#frames = frames;
    this.#records = stream.records;
    this.#signalData = signalData;
    this.#stride = stream.stride;
    this.#times = elsewhere ?? { ...stream, read: group.time as Read };
    // A count of 0 with existing records means that the file was not finalised, whatever its flags.
    this.#count = group.count === undefined || group.count === 0 ? Number.POSITIVE_INFINITY : group.count;
  }

  get parts(): readonly LogPart[] {
    return [partOf(this.#group, this.#read)];
  }

  async fill(batch: FrameBatch): Promise<boolean> {
    const records = this.#records;
    while (!this.#ended) {
      const times = this.#times;
      if (
        this.#read >= this.#count ||
        (records.left < this.#stride && !(await records.more())) ||
        (times.records.left < times.stride && !(await times.records.more()))
      ) {
        this.#ended = true;
        const cut = records.cut ?? times.records.cut ?? this.#signalData?.cut;
        reportEnd(this.#recording, this.#group, this.#read, records.left, cut);
        return false;
      }
      const wanted = this.#scan(batch);
      if (wanted === FULL) return true;
      // If the bytes do not exist, the next attempt to read the record reports them.
      if (wanted >= 0 && !(await this.#signalData?.load(wanted))) this.#leaveOut('the bytes of a frame are missing');
    }
    return false;
  }

  /** Reads records while they and their bytes are loaded. Returns {@link FULL}, {@link MORE}, or an offset. */
  #scan(batch: FrameBatch): number {
    const frames = this.#frames;
    const records = this.#records;
    const data = this.#signalData;
    const { view, bytes } = records;
    const times = this.#times;
    const { byte, most } = frames.inline;
    while (records.left >= this.#stride && times.records.left >= times.stride && this.#read < this.#count) {
      const { at } = records;
      const seconds = times.read(times.records.view, times.records.at);
      let result: number;
      if (data === undefined || frames.length(view, at) === 0) {
        result = frames.add(batch, seconds, view, at, bytes, at + byte, at + byte + most);
      } else {
        const offset = frames.offset(view, at);
        const found = data.find(offset);
        if (found < 0) return offset;
        result = frames.add(batch, seconds, view, at, data.bytes, found, found + data.lengthAt(found));
      }
      if (result === NO_ROOM) return FULL;
      if (result === ADDED) this.#next();
      else this.#leaveOut(frames.fault);
    }
    return MORE;
  }

  #leaveOut(why: string): void {
    this.#recording.fault(0, why);
    this.#next();
  }

  #next(): void {
    this.#records.at += this.#stride;
    if (this.#times.records !== this.#records) this.#times.records.at += this.#times.stride;
    this.#read++;
  }
}

const FULL = -1;
const MORE = -2;
