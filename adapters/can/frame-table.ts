/** The frames of each bus by identifier: count, period, last payload, and the last change of each bit. */
import { ERROR, EXTENDED, type FrameBatch, REMOTE } from '../../agent/ports.ts';

/** Maximum number of identifiers in the table. A bus with more carries noise or random 29-bit identifiers. */
const MOST = 4096;
/** Weight of the newest interval in the smoothed period. */
const SHARE = 1 / 8;

export interface FrameEntry {
  /** Index in {@link FrameTable.entries}. */
  readonly key: number;
  readonly bus: string;
  /** Identifier with EXTENDED bit. */
  readonly id: number;
  count: number;
  /** Smoothed time between two frames in ms; undefined until the second frame. */
  period: number | undefined;
  /** Time in UTC ms of the last frame. */
  at: number;
  length: number;
  /** The last payload. Bytes after its end are from earlier, longer payloads. */
  data: Uint8Array;
  /** Number of the last frame. */
  frame: number;
  /** By bit (byte × 8 + bit): number of the frame in which it last changed; 0 if it never changed. */
  changed: Uint32Array;
}

export class FrameTable {
  /** Entries in the order of their first frame. */
  readonly entries: FrameEntry[] = [];
  /** True if there were more identifiers than the table can hold. */
  full = false;
  /** Number of frames so far; the first has number 1. */
  frames = 0;
  /** Incremented by each {@link clear}. */
  generation = 0;
  readonly #byBus = new Map<string, Map<number, FrameEntry>>();

  /** Adds the frames of a batch. Its `bus` column indexes `buses`. Error and remote frames carry no payload. */
  take(batch: FrameBatch, buses: readonly string[]): void {
    for (let i = 0; i < batch.count; i++) {
      const id = batch.id[i] as number;
      if ((id & (ERROR | REMOTE)) !== 0) continue;
      const entry = this.#entry(buses[batch.bus[i] as number] ?? '', id);
      if (entry !== undefined) this.#note(entry, batch, i);
    }
  }

  clear(): void {
    this.entries.length = 0;
    this.#byBus.clear();
    this.full = false;
    this.frames = 0;
    this.generation++;
  }

  #entry(bus: string, id: number): FrameEntry | undefined {
    let entries = this.#byBus.get(bus);
    if (entries === undefined) {
      entries = new Map();
      this.#byBus.set(bus, entries);
    }
    const known = entries.get(id);
    if (known !== undefined) return known;
    if (this.entries.length >= MOST) {
      this.full = true;
      return undefined;
    }
    const entry: FrameEntry = {
      key: this.entries.length,
      bus,
      id,
      count: 0,
      period: undefined,
      at: 0,
      length: 0,
      frame: 0,
      data: new Uint8Array(8),
      changed: new Uint32Array(64),
    };
    entries.set(id, entry);
    this.entries.push(entry);
    return entry;
  }

  #note(entry: FrameEntry, batch: FrameBatch, i: number): void {
    const at = batch.at[i] as number;
    const length = batch.length[i] as number;
    const offset = batch.offset[i] as number;
    const frame = ++this.frames;
    if (length > entry.data.length) grow(entry, length);
    const { data, changed } = entry;
    for (let byte = 0; byte < length; byte++) {
      const value = batch.data[offset + byte] as number;
      // A byte beyond the end of the previous payload is new, not changed.
      let differs = byte < entry.length ? (data[byte] as number) ^ value : 0;
      data[byte] = value;
      for (let bit = byte * 8; differs !== 0; bit++, differs >>>= 1) if ((differs & 1) !== 0) changed[bit] = frame;
    }
    if (entry.count > 0) {
      const interval = Math.max(0, at - entry.at);
      entry.period = entry.period === undefined ? interval : entry.period + (interval - entry.period) * SHARE;
    }
    entry.count++;
    entry.at = at;
    entry.length = length;
    entry.frame = frame;
  }
}

/** Returns the bits that changed after the frame with this number, as a mask of the payload. */
export function changedSince({ changed, length }: FrameEntry, frame: number): Uint8Array {
  const mask = new Uint8Array(length);
  for (let bit = 0; bit < length * 8; bit++) {
    if ((changed[bit] as number) > frame) mask[bit >>> 3] = (mask[bit >>> 3] as number) | (1 << (bit & 7));
  }
  return mask;
}

export function isExtended({ id }: Pick<FrameEntry, 'id'>): boolean {
  return id >= EXTENDED;
}

function grow(entry: FrameEntry, length: number): void {
  const data = new Uint8Array(length);
  data.set(entry.data);
  const changed = new Uint32Array(length * 8);
  changed.set(entry.changed);
  Object.assign(entry, { data, changed });
}
