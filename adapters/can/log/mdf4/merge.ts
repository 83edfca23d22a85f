/** Brings the frames of several groups into the order of their times. */
import type { FrameBatch } from '../../../../agent/ports.ts';
import { append, createBatch } from '../../frames.ts';
import type { LogPart } from '../format.ts';
import { MAX_PAYLOAD_BYTES } from '../recording.ts';
import type { Cursor } from './cursor.ts';

/** Number of frames of a group that are read ahead. */
const AHEAD = 1024;

interface Source {
  readonly cursor: Cursor;
  readonly batch: FrameBatch;
  /** Index of the next frame. */
  next: number;
  /** True if more frames may follow the batch. */
  more: boolean;
}

/** Merges cursors: the frames of each keep their order, and the next frame is always the one with the earliest time. */
export class Merge implements Cursor {
  readonly #cursors: readonly Cursor[];
  #sources: Source[];
  readonly #bytes = new Uint8Array(MAX_PAYLOAD_BYTES);

  constructor(cursors: readonly Cursor[]) {
    this.#cursors = cursors;
    this.#sources = cursors.map((cursor) => ({
      cursor,
      batch: createBatch(AHEAD, AHEAD * MAX_PAYLOAD_BYTES),
      next: 0,
      more: true,
    }));
  }

  get parts(): readonly LogPart[] {
    return this.#cursors.flatMap(({ parts }) => parts);
  }

  async fill(target: FrameBatch): Promise<boolean> {
    for (;;) {
      for (const source of this.#sources) {
        while (source.next >= source.batch.count && source.more) {
          source.batch.count = 0;
          source.next = 0;
          source.more = await source.cursor.fill(source.batch);
        }
      }
      this.#sources = this.#sources.filter(({ next, batch }) => next < batch.count);
      const [first, second] = this.#earliest();
      if (first === undefined) return false;
      if (!this.#copy(first, second, target)) return true;
    }
  }

  /** Returns the source with the earliest frame, and the time of the earliest frame of the others. */
  #earliest(): [Source | undefined, number] {
    let first: Source | undefined;
    let earliest = Number.POSITIVE_INFINITY;
    let second = Number.POSITIVE_INFINITY;
    for (const source of this.#sources) {
      const at = source.batch.at[source.next] as number;
      if (first === undefined || at < earliest) {
        second = earliest;
        earliest = at;
        first = source;
      } else if (at < second) second = at;
    }
    return [first, second];
  }

  /** Copies frames while no other source has an earlier one. Returns false if the target has no room. */
  #copy(source: Source, until: number, target: FrameBatch): boolean {
    const { at, id, bus, flags, length, offset, data, count } = source.batch;
    do {
      const i = source.next;
      const size = length[i] as number;
      const from = offset[i] as number;
      for (let k = 0; k < size; k++) this.#bytes[k] = data[from + k] as number;
      const done = append(
        target,
        at[i] as number,
        id[i] as number,
        bus[i] as number,
        flags[i] as number,
        this.#bytes,
        size,
      );
      if (!done) return false;
      source.next++;
    } while (source.next < count && (at[source.next] as number) <= until);
    return true;
  }
}
