import { ERROR, type FrameBatch, type FrameDecoder, REMOTE, type ReadingSink } from '../../../agent/ports.ts';
import { ColumnDecoder } from './columns.ts';
import { DecodeTables } from './decode-tables.ts';
import { longestPayload } from './layout.ts';
import type { BoundDatabase } from './matching.ts';
import { BEGIN, ENTRY_SIZE, FRAME, LIST, REPEATED, Readings, STEP } from './readings.ts';
import { RowDecoder, type ShortCounts } from './row-decoder.ts';
import {
  type BusSlots,
  COUNT,
  ENOUGH,
  ENTRY,
  HIGH,
  LAST,
  LAST_HIGH,
  LAST_LOW,
  LINK,
  LOW,
  MOST_WAITING,
  NO_SLOT,
  RECORD,
  Slots,
  TAIL,
  UNLINKED,
} from './slots.ts';
import { type UnknownSignal, unknownSignals, type WantedSignal } from './wanted.ts';

/** What was seen since the decoder was made. */
export interface DecodeCounts extends ShortCounts {
  /** Frames that carry wanted signals. */
  frames: number;
  /** Of these, equal to the one before of their identifier. */
  repeated: number;
}

/** An identifier not looked up yet, as opposed to looked up and of no interest. */
const UNSEEN = -2;
/** In BEGIN until the batch is decoded: a frame that does not wait, for it may lack rows or is a long one. */
const ALONE = -2;
const ALONE_REPEATED = -3;

/**
 * Takes the wanted signals out of frames by tables built beforehand. A frame equal to the last one of its
 * identifier on its bus is not decoded again. Error and remote frames carry nothing.
 */
export class DbcDecoder implements FrameDecoder {
  /** Wanted signals that do not exist; the others are decoded all the same. */
  readonly problems: readonly UnknownSignal[];
  readonly counts: DecodeCounts = { frames: 0, repeated: 0, short: 0, missed: 0 };
  readonly #buses: readonly string[];
  readonly #byBus: BusSlots[] = [];
  /** By bus and 11-bit identifier: where the slot's record is, NO_SLOT or UNSEEN. */
  #standard = new Int32Array(0);
  readonly #tables = new DecodeTables();
  readonly #slots: Slots;
  readonly #columns = new ColumnDecoder();
  readonly #readings = new Readings();
  readonly #rows: RowDecoder;
  /** Of the payloads of the batch. */
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Numbers written into the entries, and values into the columns. */
  #filled = 0;
  #valued = 0;
  /** Entries of frames that do not wait. */
  #alone = 0;
  #repeated = 0;
  /** The record in which frames began to wait last; the others follow by LINK. */
  #linked = -1;
  /** A record in which no more frames can wait, or -1. */
  #full = -1;
  /** @param buses names that {@link FrameBatch.bus} indexes; may grow later. */
  constructor(wanted: readonly WantedSignal[], bound: readonly BoundDatabase[], buses: readonly string[]) {
    this.#buses = buses;
    this.#slots = new Slots(this.#tables, wanted, bound);
    this.#rows = new RowDecoder(this.#tables, this.#slots, this.counts);
    this.problems = unknownSignals(wanted, bound);
  }

  decode(batch: FrameBatch, sink: ReadingSink): void {
    this.read(batch).deliver(batch, sink);
  }

  /** What the frames of a batch say, all at once; valid until the next call. */
  read(batch: FrameBatch): Readings {
    const readings = this.#readings;
    const { count } = batch;
    const { buffer, byteOffset, byteLength } = batch.data;
    const { buffer: before, byteOffset: from, byteLength: size } = this.#view;
    // Making a view costs more than decoding a frame, and sources fill the same batch again and again.
    if (buffer !== before || byteOffset !== from || byteLength !== size) {
      this.#view = new DataView(buffer, byteOffset, byteLength);
    }
    readings.clear(count);
    readings.lists = this.#slots.signals;
    this.#filled = 0;
    this.#valued = 0;
    this.#alone = 0;
    this.#repeated = 0;
    this.#linked = -1;
    this.#full = -1;
    let whole = false;
    try {
      for (let i = 0; i < count; ) {
        i = this.#selectClassic(batch, i);
        if (this.#full < 0) i = this.#selectOthers(batch, i);
        if (this.#full >= 0) this.#drain(this.#full);
        this.#full = -1;
      }
      this.#drainAll();
      whole = true;
    } finally {
      // A batch that contradicts itself is its source's defect; its frames must not wait for the next batch.
      if (!whole) this.#slots.forget();
    }
    readings.count = this.#filled / ENTRY_SIZE;
    if (this.#alone > 0) this.#decodeAlone(batch);
    this.counts.frames += readings.count;
    this.counts.repeated += this.#repeated;
    return readings;
  }

  /*
   * Nearly all frames take one loop, selectClassic, which calls nothing. So the compiler keeps in the loop what it
   * knows of the arrays; after a call it would look them all up again for the next frame, which costs as much as
   * decoding a signal. Hence what is rare leaves the loop, and some lines stand twice.
   */

  /**
   * Finds the frames that carry something wanted, among those with 11-bit identifiers seen before and one to eight
   * bytes, compares each with the last of its identifier and lets those that differ wait to be decoded.
   * @returns the first frame that is of another kind, or the next one when a record is full.
   */
  #selectClassic(batch: FrameBatch, start: number): number {
    // What lies where in records (slots.ts) and entries (readings.ts): constants of another module are variables to
    // the compiler, these are not.
    const lastLow = 1;
    const lastHigh = 2;
    const enough = 3;
    const waits = 4;
    const link = 5;
    const number = 9;
    const lowRun = 16;
    const highRun = 44;
    const entryRun = 128;
    const most = 28;
    const { count, id, bus, length, offset } = batch;
    const view = this.#view;
    const { entries } = this.#readings;
    const { records } = this.#slots;
    const standard = this.#standard;
    const known = standard.length;
    let linked = this.#linked;
    let filled = this.#filled;
    let alone = 0;
    let repeated = 0;
    let i = start;
    for (; i < count; i = (i + 1) | 0) {
      const identifier = id[i]! | 0;
      if (identifier >>> 11 !== 0) break;
      const place = (bus[i]! << 11) | identifier;
      if (place >= known) break;
      const record = standard[place]!;
      if (record === NO_SLOT) continue;
      const bytes = length[i]!;
      // One to eight bytes; a payload of none may lie where the batch ends.
      if (record === UNSEEN || (bytes - 1) >>> 0 > 7) break;
      // Payloads are padded to eight bytes, so both words are always there.
      const from = offset[i]!;
      const low = view.getInt32(from, true);
      const high = view.getInt32((from + 4) | 0, true);
      const differs =
        (records[record]! ^ bytes) |
        (records[(record + lastLow) | 0]! ^ low) |
        (records[(record + lastHigh) | 0]! ^ high);
      entries[filled] = i;
      entries[(filled + 1) | 0] = records[(record + number) | 0]!;
      const entry = filled;
      filled = (filled + 4) | 0;
      if (bytes < records[(record + enough) | 0]!) {
        records[record] = bytes;
        records[(record + lastLow) | 0] = low;
        records[(record + lastHigh) | 0] = high;
        entries[(entry + 2) | 0] = differs === 0 ? ALONE_REPEATED : ALONE;
        alone = (alone + 1) | 0;
        continue;
      }
      if (differs === 0) {
        entries[(entry + 2) | 0] = REPEATED;
        repeated = (repeated + 1) | 0;
        continue;
      }
      records[record] = bytes;
      records[(record + lastLow) | 0] = low;
      records[(record + lastHigh) | 0] = high;
      const before = records[(record + waits) | 0]!;
      if (before === 0 && records[(record + link) | 0] === UNLINKED) {
        records[(record + link) | 0] = linked;
        linked = record;
      }
      const at = (record + before) | 0;
      records[(at + lowRun) | 0] = low;
      records[(at + highRun) | 0] = high;
      records[(at + entryRun) | 0] = entry;
      records[(record + waits) | 0] = (before + 1) | 0;
      if (before === most - 1) {
        this.#full = record;
        i = (i + 1) | 0;
        break;
      }
    }
    this.#linked = linked;
    this.#filled = filled;
    this.#alone += alone;
    this.#repeated += repeated;
    return i;
  }

  /** As {@link #selectClassic}, for the frames it leaves: stops where it can go on, and when a record is full. */
  #selectOthers(batch: FrameBatch, start: number): number {
    const { count, id, bus, length, offset } = batch;
    const view = this.#view;
    let i = start;
    for (; i < count && this.#full < 0; i++) {
      const identifier = id[i]! | 0;
      const bytes = length[i]!;
      if (identifier >>> 11 === 0 && bytes > 0 && bytes <= 8 && i > start) break;
      if ((identifier & (REMOTE | ERROR)) !== 0 || (identifier >= 0 && identifier >>> 11 !== 0)) continue;
      const on = this.#byBus[bus[i]!] ?? this.#prepare(bus[i]!);
      let slot = identifier < 0 ? on.extended.get(identifier & 0x1fff_ffff, UNSEEN) : on.standard[identifier]!;
      if (slot === UNSEEN) slot = this.#slots.discover(on, identifier & 0x1fff_ffff);
      if (slot < 0) continue;
      const { records } = this.#slots;
      const record = slot * RECORD;
      const from = offset[i]!;
      const low = bytes === 0 ? 0 : view.getInt32(from, true);
      const high = bytes === 0 ? 0 : view.getInt32(from + 4, true);
      let differs =
        (records[record + LAST]! ^ bytes) | (records[record + LAST_LOW]! ^ low) | (records[record + LAST_HIGH]! ^ high);
      records[record + LAST] = bytes;
      records[record + LAST_LOW] = low;
      records[record + LAST_HIGH] = high;
      if (bytes > 8) differs |= this.#tailDiffers(view, from, bytes, slot);
      const entry = this.#filled;
      this.#filled += ENTRY_SIZE;
      const { entries } = this.#readings;
      entries[entry + FRAME] = i;
      entries[entry + LIST] = slot;
      if (bytes < records[record + ENOUGH]! || bytes > 8) {
        entries[entry + BEGIN] = differs === 0 ? ALONE_REPEATED : ALONE;
        this.#alone++;
      } else if (differs === 0) {
        entries[entry + BEGIN] = REPEATED;
        this.#repeated++;
      } else this.#wait(record, low, high, entry);
    }
    return i;
  }

  /** Puts a frame into the record of its slot, to be decoded with others. */
  #wait(record: number, low: number, high: number, entry: number): void {
    const { records } = this.#slots;
    const before = records[record + COUNT]!;
    if (records[record + LINK] === UNLINKED) {
      records[record + LINK] = this.#linked;
      this.#linked = record;
    }
    records[record + LOW + before] = low;
    records[record + HIGH + before] = high;
    records[record + ENTRY + before] = entry;
    records[record + COUNT] = before + 1;
    if (before === MOST_WAITING - 1) this.#full = record;
  }

  /** Compares what a payload has beyond eight bytes with the last of its slot, and keeps it; 0 when it is equal. */
  #tailDiffers(view: DataView, from: number, bytes: number, slot: number): number {
    const { tails } = this.#slots;
    const end = Math.min(bytes, longestPayload);
    let differs = 0;
    for (let byte = 8, at = slot * TAIL; byte < end; byte += 4, at++) {
      const word = view.getInt32(from + byte, true);
      differs |= tails[at]! ^ word;
      tails[at] = word;
    }
    return differs;
  }

  #drain(record: number): void {
    this.#valued = this.#columns.decode(this.#slots.records, record, this.#tables, this.#readings, this.#valued);
  }

  /** Decodes whatever still waits, and forgets where frames waited. */
  #drainAll(): void {
    const { records } = this.#slots;
    for (let record = this.#linked; record >= 0; ) {
      if (records[record + COUNT] !== 0) this.#drain(record);
      const next = records[record + LINK]!;
      records[record + LINK] = UNLINKED;
      record = next;
    }
  }

  /** Decodes, in their order, the frames that did not wait. */
  #decodeAlone(batch: FrameBatch): void {
    const readings = this.#readings;
    const { entries, fewer } = readings;
    const { carried } = this.#slots;
    for (let entry = 0; entry < this.#filled; entry += ENTRY_SIZE) {
      const begin = entries[entry + BEGIN]!;
      if (begin !== ALONE && begin !== ALONE_REPEATED) continue;
      const slot = entries[entry + LIST]!;
      if (begin === ALONE) {
        carried[slot] = this.#rows.decodeFrame(
          this.#view,
          batch,
          entries[entry + FRAME]!,
          slot,
          readings,
          this.#valued,
        );
        entries[entry + BEGIN] = this.#valued;
        entries[entry + STEP] = 1;
        this.#valued += carried[slot].length;
      } else {
        entries[entry + BEGIN] = REPEATED;
        this.#repeated++;
      }
      fewer.push(carried[slot]!);
      entries[entry + LIST] = -fewer.length;
    }
  }

  /** A bus of which nothing was seen yet. */
  #prepare(number: number): BusSlots {
    const bus = this.#slots.prepare(this.#buses[number]);
    this.#byBus[number] = bus;
    if (this.#standard.length < (number + 1) << 11) {
      const larger = new Int32Array((number + 1) << 11).fill(UNSEEN);
      larger.set(this.#standard);
      this.#standard = larger;
    }
    this.#standard.set(
      bus.standard.map((slot) => (slot < 0 ? slot : slot * RECORD)),
      number << 11,
    );
    return bus;
  }
}
