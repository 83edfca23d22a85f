import type { FrameBatch } from '../ports.ts';

/** Bytes of a frame with up to 8 payload bytes; a longer frame uses as many for each 8 bytes or part of them. */
export const SLOT_BYTES = 24;

/** Length value of a slot that contains more payload of the previous frame. */
const CONTINUED = 255;
/** Flag of a frame that must not be read any more; the wire has no such flag. */
const WITHHELD = 0x80;

/**
 * The newest raw frames of all buses, in the order of arrival, in memory of a fixed size. Each slot has a number that
 * is never reset; a frame is identified by its first slot.
 *
 *     slot:  time (8 bytes) | identifier (4) | bus (1) | flags (1) | length (1) | payload (8)     and one byte spare
 */
export class FrameRing {
  readonly #capacity: number;
  readonly #at: Float64Array;
  readonly #id: Uint32Array;
  readonly #bus: Uint8Array;
  readonly #flags: Uint8Array;
  readonly #length: Uint8Array;
  readonly #data: Uint8Array;
  /** Position of {@link next} in the columns. */
  #place = 0;
  #next = 0;
  #first = 0;
  #overwritten = 0;
  #lastOverwritten = Number.NEGATIVE_INFINITY;

  /** @param bytes size of the memory, at least that of a frame with 64 bytes of payload */
  constructor(bytes: number) {
    const capacity = Math.max(8, Math.floor(bytes / SLOT_BYTES));
    this.#capacity = capacity;
    this.#at = new Float64Array(capacity);
    this.#id = new Uint32Array(capacity);
    this.#bus = new Uint8Array(capacity);
    this.#flags = new Uint8Array(capacity);
    this.#length = new Uint8Array(capacity);
    this.#data = new Uint8Array(capacity * 8);
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Number of the oldest frame; {@link next} if there are no frames. */
  get first(): number {
    return this.#first;
  }

  /** Number of the slot after the newest frame. */
  get next(): number {
    return this.#next;
  }

  /** Number of frames that newer ones have overwritten so far. */
  get overwritten(): number {
    return this.#overwritten;
  }

  /** Time of the newest overwritten frame, UTC ms; minus infinity if no frame was overwritten. */
  get lastOverwritten(): number {
    return this.#lastOverwritten;
  }

  /** Adds frame `index` of a batch. @param bus number of the bus, 0..255 */
  add(batch: FrameBatch, index: number, bus: number): void {
    const length = batch.length[index] as number;
    const slots = length <= 8 ? 1 : (length + 7) >> 3;
    while (this.#next + slots - this.#first > this.#capacity) this.#drop();
    const source = batch.data;
    let from = batch.offset[index] as number;
    for (let slot = 0; slot < slots; slot++, from += 8) {
      const place = this.#place;
      if (slot === 0) {
        this.#at[place] = batch.at[index] as number;
        this.#id[place] = batch.id[index] as number;
        this.#bus[place] = bus;
        this.#flags[place] = batch.flags[index] as number;
        this.#length[place] = length;
      } else this.#length[place] = CONTINUED;
      for (let byte = 0, to = place * 8; byte < 8; byte++) this.#data[to + byte] = source[from + byte] as number;
      this.#place = place + 1 === this.#capacity ? 0 : place + 1;
    }
    this.#next += slots;
  }

  /** Returns the frame after `frame`. */
  after(frame: number): number {
    const length = this.#length[frame % this.#capacity] as number;
    return frame + (length <= 8 ? 1 : (length + 7) >> 3);
  }

  at(frame: number): number {
    return this.#at[frame % this.#capacity] as number;
  }

  id(frame: number): number {
    return this.#id[frame % this.#capacity] as number;
  }

  bus(frame: number): number {
    return this.#bus[frame % this.#capacity] as number;
  }

  withheld(frame: number): boolean {
    return ((this.#flags[frame % this.#capacity] as number) & WITHHELD) !== 0;
  }

  /** Hides the frame from all readers from now on. */
  withhold(frame: number): void {
    const place = frame % this.#capacity;
    this.#flags[place] = (this.#flags[place] as number) | WITHHELD;
    for (let slot = frame; slot < this.after(frame); slot++) {
      const from = (slot % this.#capacity) * 8;
      this.#data.fill(0, from, from + 8);
    }
  }

  /** Call after the clock was stepped forward by `by` ms. Shifts all times. */
  shift(by: number): void {
    for (let place = 0; place < this.#capacity; place++) this.#at[place] = (this.#at[place] as number) + by;
    this.#lastOverwritten += by;
  }

  /** Copies frames, which must not be overwritten yet, into separate columns. */
  copy(frames: readonly number[]): FrameBatch {
    const count = frames.length;
    const batch: FrameBatch = {
      count,
      at: new Float64Array(count),
      id: new Uint32Array(count),
      bus: new Uint8Array(count),
      flags: new Uint8Array(count),
      length: new Uint8Array(count),
      offset: new Uint32Array(count),
      data: new Uint8Array(frames.reduce((bytes, frame) => bytes + (this.after(frame) - frame) * 8, 0)),
    };
    let offset = 0;
    for (const [index, frame] of frames.entries()) {
      const place = frame % this.#capacity;
      batch.at[index] = this.#at[place] as number;
      batch.id[index] = this.#id[place] as number;
      batch.bus[index] = this.#bus[place] as number;
      batch.flags[index] = this.#flags[place] as number;
      batch.length[index] = this.#length[place] as number;
      batch.offset[index] = offset;
      for (let slot = frame; slot < this.after(frame); slot++, offset += 8) {
        const from = (slot % this.#capacity) * 8;
        batch.data.set(this.#data.subarray(from, from + 8), offset);
      }
    }
    return batch;
  }

  #drop(): void {
    this.#lastOverwritten = this.at(this.#first);
    this.#first = this.after(this.#first);
    this.#overwritten++;
  }
}
