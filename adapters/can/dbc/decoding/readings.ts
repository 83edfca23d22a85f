/**
 * The readings of the frames of one batch, as columns that the next batch reuses; docs/decoder.md draws them. This file
 * imports no values, for the reason that slot-record.ts gives.
 */
import type { BatchReadings, FrameBatch, ReadingSink } from '../../../../agent/ports.ts';

/**
 * A group has at most this many frames. A place is `group << GROUP_SHIFT | member`, and this mask extracts the member.
 */
export const MAX_WAITING = 64;
export const MEMBER_MASK = 63;
export const GROUP_SHIFT = 6;
/** In an entry: the index of the frame in the batch. */
export const ENTRY_FRAME = 0;
/** In an entry: the frame's place, or `-1 - signal list` if the frame equals the last one of its identifier. */
export const ENTRY_PLACE = 1;
export const ENTRY_SIZE = 2;
/**
 * In a group: number of its signal list, position of its first value, distance between values of consecutive signals.
 */
export const GROUP_LIST = 0;
export const GROUP_BEGIN = 1;
export const GROUP_STEP = 2;
export const GROUP_SIZE = 4;
/** Returned by {@link Readings.begin} if the frame equals the last one of its identifier. */
export const REPEATED = -1;

export class Readings implements BatchReadings {
  /** Number of frames with wanted signals. The frames are in the order of the batch. */
  count = 0;
  /** Physical values of all these frames; see {@link begin}. */
  values: Float64Array = new Float64Array(0);
  /** As `values`: the integers before scaling (IEEE values of float signals). */
  raws: Float64Array = new Float64Array(0);
  /** `entries` and `groups` are filled by the decoder. */
  entries: Int32Array = new Int32Array(0);
  groups: Int32Array = new Int32Array(0);
  /** Signal lists by slot. Lists of frames that lack signals are in `fewer`, with the numbers -1, -2 and so on. */
  lists: readonly (readonly number[])[] = [];
  readonly fewer: (readonly number[])[] = [];

  /** Returns the index in the batch of the `i`th frame. */
  frame(i: number): number {
    return this.entries[i * ENTRY_SIZE]!;
  }

  /** Returns the number of the `i`th frame's signal list; negative if the frame may lack signals of its plan. */
  list(i: number): number {
    const place = this.entries[i * ENTRY_SIZE + ENTRY_PLACE]!;
    return place < 0 ? -1 - place : this.groups[(place >>> GROUP_SHIFT) * GROUP_SIZE + GROUP_LIST]!;
  }

  /** Returns the wanted signals in the `i`th frame, as indexes of the decoder's list. */
  signals(i: number): readonly number[] {
    const list = this.list(i);
    return list >= 0 ? this.lists[list]! : this.fewer[-1 - list]!;
  }

  /**
   * Returns the index of the `i`th frame's first value, or {@link REPEATED} if all values equal those of the previous
   * frame.
   */
  begin(i: number): number {
    const place = this.entries[i * ENTRY_SIZE + ENTRY_PLACE]!;
    return place < 0
      ? REPEATED
      : this.groups[(place >>> GROUP_SHIFT) * GROUP_SIZE + GROUP_BEGIN]! + (place & MEMBER_MASK);
  }

  /** Returns the distance between the values of consecutive signals. */
  step(i: number): number {
    const place = this.entries[i * ENTRY_SIZE + ENTRY_PLACE]!;
    return place < 0 ? 0 : this.groups[(place >>> GROUP_SHIFT) * GROUP_SIZE + GROUP_STEP]!;
  }

  /** Makes room for the entries of a new batch. */
  clear(frames: number): void {
    this.count = 0;
    this.fewer.length = 0;
    if (this.entries.length < frames * ENTRY_SIZE) {
      this.entries = new Int32Array(frames * ENTRY_SIZE);
      this.groups = new Int32Array(frames * GROUP_SIZE);
    }
  }

  /** Makes room for values up to `end`. */
  reserve(end: number): void {
    if (end <= this.values.length) return;
    const room = Math.max(end, 2 * this.values.length, 256);
    const { values, raws } = this;
    this.values = new Float64Array(room);
    this.values.set(values);
    this.raws = new Float64Array(room);
    this.raws.set(raws);
  }

  /** Passes all readings to a sink, in the order of the batch. */
  deliver({ at }: FrameBatch, sink: ReadingSink): void {
    const { count, values, raws } = this;
    for (let i = 0; i < count; i++) {
      const when = at[this.frame(i)]!;
      const signals = this.signals(i);
      if (signals.length === 0) continue;
      let from = this.begin(i);
      if (from === REPEATED) {
        sink.alive(signals, when);
        continue;
      }
      const step = this.step(i);
      for (let k = 0; k < signals.length; k++, from += step)
        sink.reading(signals[k]!, values[from]!, raws[from]!, when);
      sink.settled(when);
    }
  }
}
