/**
 * Bytes of variable length in separate records, among the records of frames that refer to them (ASAM MDF 4.1 §5.14.4).
 * They precede or follow their frame: whichever comes first waits for the other.
 */
import type { FrameBatch } from '../../../../agent/ports.ts';

/** Maximum number of byte records that wait for their frames. The oldest are dropped. */
const MOST_WAITING = 65_536;

export class VariableBytes {
  /** Frames of the batch that wait for their bytes: index and wanted length, -1 for any length, by key. */
  readonly #frames = new Map<number, { readonly index: number; readonly wanted: number }>();
  readonly #bytes = new Map<number, Uint8Array>();
  /** True if bytes are matched to frames by their order, because the offsets in the frames are wrong. */
  readonly #inOrder: boolean;
  #nextFrame = 0;
  #nextBytes = 0;

  constructor(inOrder: boolean) {
    this.#inOrder = inOrder;
  }

  /** Returns the key of the next frame with this offset. */
  keyOf(offset: number): number {
    return this.#inOrder ? this.#nextFrame : offset;
  }

  /** Removes and returns the bytes that preceded their frame, or undefined. */
  take(key: number): Uint8Array | undefined {
    const found = this.#bytes.get(key);
    if (found !== undefined) this.#bytes.delete(key);
    return found;
  }

  /** Call after the frame of the last key was read. */
  passed(): void {
    this.#nextFrame++;
  }

  /** Registers frame `index` of the batch, which waits for its bytes. */
  await(key: number, index: number, wanted: number): void {
    this.#frames.set(key, { index, wanted });
  }

  /**
   * Adds the bytes from `from` to `to`.
   * @returns the index of the frame that waited for them if they are too few for it; otherwise -1
   */
  came(batch: FrameBatch, bytes: Uint8Array, from: number, to: number): number {
    const key = this.#nextBytes;
    this.#nextBytes += this.#inOrder ? 1 : 4 + to - from;
    const frame = this.#frames.get(key);
    if (frame === undefined) {
      this.#bytes.set(key, bytes.slice(from, to));
      if (this.#bytes.size > MOST_WAITING) this.#bytes.delete(this.#bytes.keys().next().value as number);
      return -1;
    }
    this.#frames.delete(key);
    const { index, wanted } = frame;
    const length = wanted < 0 ? Math.min(64, to - from) : wanted;
    if (length > to - from) return index;
    batch.data.set(bytes.subarray(from, from + length), batch.offset[index] as number);
    batch.length[index] = length;
    return -1;
  }

  /** Drops waiting frames. Returns their indices. */
  giveUp(): number[] {
    const indices = [...this.#frames.values()].map(({ index }) => index);
    this.#frames.clear();
    return indices;
  }
}

/** Removes frames from a batch. */
export function remove(batch: FrameBatch, indices: ReadonlySet<number>): void {
  if (indices.size === 0) return;
  const { at, id, bus, flags, length, offset } = batch;
  let to = 0;
  for (let from = 0; from < batch.count; from++) {
    if (indices.has(from)) continue;
    at[to] = at[from] as number;
    id[to] = id[from] as number;
    bus[to] = bus[from] as number;
    flags[to] = flags[from] as number;
    length[to] = length[from] as number;
    offset[to] = offset[from] as number;
    to++;
  }
  batch.count = to;
}
