import { ERROR, type FrameBatch, type FrameDecoder, REMOTE, type ReadingSink } from '../../../../agent/ports.ts';
import { longestPayload } from '../layout.ts';
import type { BoundDatabase } from '../matching.ts';
import { type UnknownSignal, unknownSignals, type WantedSignal } from '../wanted.ts';
import { ColumnDecoder } from './columns.ts';
import { DecodeTables } from './decode-tables.ts';
import {
  ENTRY_FRAME,
  ENTRY_PLACE,
  ENTRY_SIZE,
  GROUP_BEGIN,
  GROUP_LIST,
  GROUP_SHIFT,
  GROUP_SIZE,
  GROUP_STEP,
  MEMBER_MASK,
  REPEATED,
  Readings,
} from './readings.ts';
import { RowDecoder, type ShortCounts } from './row-decoder.ts';
import {
  BRANCHING,
  FEWER_SIGNALS,
  NO_SLOT,
  NONE_WAITS,
  RECORD_SIZE,
  SLOT_BRANCHES,
  SLOT_FULL_LENGTH,
  SLOT_HIGH,
  SLOT_LAST_LENGTH,
  SLOT_LINK,
  SLOT_LIST,
  SLOT_LOW,
  SLOT_NEXT_PLACE,
  SLOT_SELECTOR_MASK,
  SLOT_SELECTOR_SHIFT,
  SLOT_SELECTOR_WORD,
  SLOT_WAITING_LENGTH,
  UNLINKED,
  UNSEEN,
} from './slot-record.ts';
import { type BusSlots, Slots, TAIL_SIZE } from './slots.ts';

/** Counts since the decoder was created. */
interface DecodeCounts extends ShortCounts {
  /** Number of frames with wanted signals. */
  frames: number;
  /** Number of those frames that equal the previous frame of their identifier. */
  repeated: number;
}

/**
 * Decodes the wanted signals of frames with tables built beforehand. A frame that equals the last one with its
 * identifier on its bus is not decoded again. Error and remote frames contain no signals.
 */
export class DbcDecoder implements FrameDecoder {
  /** Wanted signals that do not exist. All others are still decoded. */
  readonly problems: readonly UnknownSignal[];
  readonly counts: DecodeCounts = { frames: 0, repeated: 0, short: 0, missed: 0 };
  readonly #buses: readonly string[];
  readonly #byBus: BusSlots[] = [];
  /** By bus and 11-bit identifier: the slot's record, NO_SLOT or UNSEEN. */
  #standard = new Int32Array(0);
  readonly #tables = new DecodeTables();
  readonly #slots: Slots;
  readonly #columnDecoder = new ColumnDecoder();
  readonly #readings = new Readings();
  readonly #rowDecoder: RowDecoder;
  /** The payloads of the batch. */
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** End of the used entries (in numbers, not entries), groups and values of the batch. */
  #entryEnd = 0;
  #groupCount = 0;
  #valueEnd = 0;
  #repeated = 0;
  /** The latest record in which frames began to wait. SLOT_LINK leads to the others. */
  #lastLinked = -1;
  /** A record in which no more frames can wait, or -1. */
  #full = -1;
  /** @param buses names that {@link FrameBatch.bus} indexes; may grow later. */
  constructor(wanted: readonly WantedSignal[], bound: readonly BoundDatabase[], buses: readonly string[]) {
    this.#buses = buses;
    this.#slots = new Slots(this.#tables, wanted, bound);
    this.#rowDecoder = new RowDecoder(this.#tables, this.#slots, this.counts);
    this.problems = unknownSignals(wanted, bound);
  }

  decode(batch: FrameBatch, sink: ReadingSink): void {
    this.read(batch).deliver(batch, sink);
  }

  /** Decodes a batch into columns. The result is valid until the next call. */
  read(batch: FrameBatch): Readings {
    const readings = this.#readings;
    const { count } = batch;
    const { buffer, byteOffset, byteLength } = batch.data;
    const { buffer: before, byteOffset: from, byteLength: size } = this.#view;
    // Creating a view costs more than decoding a frame, and sources reuse the same buffer.
    if (buffer !== before || byteOffset !== from || byteLength !== size) {
      this.#view = new DataView(buffer, byteOffset, byteLength);
    }
    readings.clear(count);
    readings.lists = this.#slots.signals;
    this.#entryEnd = 0;
    this.#groupCount = 0;
    this.#valueEnd = 0;
    this.#repeated = 0;
    this.#lastLinked = -1;
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
      // An inconsistent batch is a fault of its source. Its frames must not wait for the next batch.
      if (!whole) this.#slots.forget();
    }
    readings.count = this.#entryEnd / ENTRY_SIZE;
    this.counts.frames += readings.count;
    this.counts.repeated += this.#repeated;
    return readings;
  }

  /*
   * Nearly all frames are processed by selectClassic, a loop without calls. There the compiler keeps array bounds and
   * addresses in registers. After a call it would load them all again for the next frame, which costs as much as
   * decoding a signal. Therefore rare frames leave the loop, and some lines occur twice.
   */

  /**
   * Finds frames with wanted signals among those with 11-bit identifiers and the same length as the previous frame of
   * their identifier. Compares each with that frame, and queues those that differ for decoding.
   * @returns the first frame of another kind, or the next one if a record is full.
   */
  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: one loop without calls, in which the compiler keeps the arrays
  #selectClassic(batch: FrameBatch, start: number): number {
    const { id, bus, length, offset } = batch;
    const count = batch.count | 0;
    const view = this.#view;
    const { entries } = this.#readings;
    const { records, branches } = this.#slots;
    const standard = this.#standard;
    const keys = standard.length | 0;
    let lastLinked = this.#lastLinked | 0;
    let entryEnd = this.#entryEnd | 0;
    let groupCount = this.#groupCount | 0;
    let repeated = 0;
    let i = start | 0;
    for (; i < count; i = (i + 1) | 0) {
      const identifier = id[i]! | 0;
      if (identifier >>> 11 !== 0) break;
      const key = (bus[i]! << 11) | identifier;
      if (key >= keys) break;
      const record = standard[key]!;
      if (record < 0) {
        if (record === NO_SLOT) continue;
        break;
      }
      if (length[i]! !== records[(record + SLOT_WAITING_LENGTH) | 0]!) break;
      // Payloads are padded to eight bytes, so both words always exist.
      const from = offset[i]!;
      const low = view.getInt32(from, true);
      const high = view.getInt32((from + 4) | 0, true);
      let next = records[(record + SLOT_NEXT_PLACE) | 0]!;
      let last = (record + (next & MEMBER_MASK)) | 0;
      entries[entryEnd] = i;
      const differs = (records[(last + SLOT_LOW) | 0]! ^ low) | (records[(last + SLOT_HIGH) | 0]! ^ high);
      if ((next & MEMBER_MASK) !== 0) {
        // Other frames wait already. A branch on repetition would be unpredictable, so both cases run without one. A
        // frame written behind the waiting ones joins them only when SLOT_NEXT_PLACE includes it. If the frame differs,
        // all bits of `all` are set.
        const all = (differs | -differs) >> 31;
        const sum = (next - all) | 0;
        entries[(entryEnd + 1) | 0] = (next & all) | ~(records[(record + SLOT_LIST) | 0]! | all);
        entryEnd = (entryEnd + 2) | 0;
        repeated = (repeated + 1 + all) | 0;
        records[(last + (SLOT_LOW + 1)) | 0] = low;
        records[(last + (SLOT_HIGH + 1)) | 0] = high;
        records[(record + SLOT_NEXT_PLACE) | 0] = sum;
        if ((sum & MEMBER_MASK) !== 0) continue;
        this.#full = record;
        i = (i + 1) | 0;
        break;
      }
      if (differs === 0) {
        entries[(entryEnd + 1) | 0] = ~records[(record + SLOT_LIST) | 0]!;
        entryEnd = (entryEnd + 2) | 0;
        repeated = (repeated + 1) | 0;
        continue;
      }
      let into = record;
      if (next === BRANCHING) {
        const word = records[(record + SLOT_SELECTOR_WORD) | 0]! === 0 ? low : high;
        const value =
          (word >>> records[(record + SLOT_SELECTOR_SHIFT) | 0]!) & records[(record + SLOT_SELECTOR_MASK) | 0]!;
        into = branches[(records[(record + SLOT_BRANCHES) | 0]! + value) | 0]!;
        if (into < 0) break;
        records[(record + SLOT_LOW) | 0] = low;
        records[(record + SLOT_HIGH) | 0] = high;
        records[(record + SLOT_LIST) | 0] = records[(into + SLOT_LIST) | 0]!;
        next = records[(into + SLOT_NEXT_PLACE) | 0]!;
        last = (into + (next & MEMBER_MASK)) | 0;
      }
      if ((next & MEMBER_MASK) === 0) {
        next = groupCount << GROUP_SHIFT;
        groupCount = (groupCount + 1) | 0;
        if (records[(into + SLOT_LINK) | 0]! === UNLINKED) {
          records[(into + SLOT_LINK) | 0] = lastLinked;
          lastLinked = into;
        }
      }
      entries[(entryEnd + 1) | 0] = next;
      entryEnd = (entryEnd + 2) | 0;
      records[(last + (SLOT_LOW + 1)) | 0] = low;
      records[(last + (SLOT_HIGH + 1)) | 0] = high;
      records[(into + SLOT_NEXT_PLACE) | 0] = (next + 1) | 0;
      if ((next & MEMBER_MASK) === MEMBER_MASK) {
        this.#full = into;
        i = (i + 1) | 0;
        break;
      }
    }
    this.#lastLinked = lastLinked;
    this.#entryEnd = entryEnd;
    this.#groupCount = groupCount;
    this.#repeated += repeated;
    return i;
  }

  /**
   * Like {@link #selectClassic}, for the frames that it skips. Stops at the next frame that {@link #selectClassic}
   * takes, and when a record is full.
   */
  #selectOthers(batch: FrameBatch, start: number): number {
    const { count, id, bus, length, offset } = batch;
    const view = this.#view;
    const { entries } = this.#readings;
    let i = start;
    for (; i < count && this.#full < 0; i++) {
      const identifier = id[i]! | 0;
      const bytes = length[i]!;
      if (identifier >>> 11 === 0 && i > start) break;
      if ((identifier & (REMOTE | ERROR)) !== 0 || (identifier >= 0 && identifier >>> 11 !== 0)) continue;
      const on = this.#byBus[bus[i]!] ?? this.#prepare(bus[i]!);
      let slot = identifier < 0 ? on.extended.get(identifier & 0x1fff_ffff, UNSEEN) : on.standard[identifier]!;
      if (slot === UNSEEN) slot = this.#slots.discover(on, identifier & 0x1fff_ffff);
      if (slot < 0) continue;
      const { records } = this.#slots;
      const record = slot * RECORD_SIZE;
      const from = offset[i]!;
      // An empty payload may start at the end of the batch.
      const low = bytes === 0 ? 0 : view.getInt32(from, true);
      const high = bytes === 0 ? 0 : view.getInt32(from + 4, true);
      const last = record + (records[record + SLOT_NEXT_PLACE]! & MEMBER_MASK);
      let differs =
        (records[record + SLOT_LAST_LENGTH]! ^ bytes) |
        (records[last + SLOT_LOW]! ^ low) |
        (records[last + SLOT_HIGH]! ^ high);
      if (bytes > 8) differs |= this.#tailDiffers(view, from, bytes, slot);
      const entry = this.#entryEnd;
      this.#entryEnd += ENTRY_SIZE;
      entries[entry + ENTRY_FRAME] = i;
      if (differs === 0) {
        this.#repeated++;
        const list = records[record + SLOT_LIST]!;
        entries[entry + ENTRY_PLACE] = list === FEWER_SIGNALS ? this.#group(this.#fewer(slot), REPEATED, 0) : -1 - list;
        continue;
      }
      const waits = bytes >= records[record + SLOT_FULL_LENGTH]! && bytes > 0 && bytes <= 8;
      records[record + SLOT_LAST_LENGTH] = bytes;
      records[record + SLOT_WAITING_LENGTH] = waits ? bytes : NONE_WAITS;
      entries[entry + ENTRY_PLACE] = waits
        ? this.#wait(record, low, high)
        : this.#decodeAlone(batch, i, slot, low, high);
    }
    return i;
  }

  /** Puts a frame into its record to be decoded with others, and returns its place. */
  #wait(record: number, low: number, high: number): number {
    let into = record;
    let { records } = this.#slots;
    if (records[record + SLOT_NEXT_PLACE] === BRANCHING) {
      const word = records[record + SLOT_SELECTOR_WORD] === 0 ? low : high;
      const value = (word >>> records[record + SLOT_SELECTOR_SHIFT]!) & records[record + SLOT_SELECTOR_MASK]!;
      into = this.#slots.branch(record, value);
      records = this.#slots.records;
      records[record + SLOT_LOW] = low;
      records[record + SLOT_HIGH] = high;
      records[record + SLOT_LIST] = records[into + SLOT_LIST]!;
    } else records[record + SLOT_LIST] = record / RECORD_SIZE;
    let next = records[into + SLOT_NEXT_PLACE]!;
    const last = into + (next & MEMBER_MASK);
    if ((next & MEMBER_MASK) === 0) {
      next = this.#groupCount << GROUP_SHIFT;
      this.#groupCount++;
      if (records[into + SLOT_LINK] === UNLINKED) {
        records[into + SLOT_LINK] = this.#lastLinked;
        this.#lastLinked = into;
      }
    }
    records[last + SLOT_LOW + 1] = low;
    records[last + SLOT_HIGH + 1] = high;
    records[into + SLOT_NEXT_PLACE] = next + 1;
    if ((next & MEMBER_MASK) === MEMBER_MASK) this.#full = into;
    return next;
  }

  /**
   * Compares the payload beyond eight bytes with the last one of its slot, and stores it. Returns 0 if they are equal.
   */
  #tailDiffers(view: DataView, from: number, bytes: number, slot: number): number {
    const { tails } = this.#slots;
    const end = Math.min(bytes, longestPayload);
    let differs = 0;
    for (let byte = 8, at = slot * TAIL_SIZE; byte < end; byte += 4, at++) {
      const word = view.getInt32(from + byte, true);
      differs |= tails[at]! ^ word;
      tails[at] = word;
    }
    return differs;
  }

  #drain(record: number): void {
    this.#valueEnd = this.#columnDecoder.decode(
      this.#slots.records,
      record,
      this.#tables,
      this.#readings,
      this.#valueEnd,
    );
  }

  /** Decodes the waiting frames and clears their records. */
  #drainAll(): void {
    const { records } = this.#slots;
    for (let record = this.#lastLinked; record >= 0; ) {
      if ((records[record + SLOT_NEXT_PLACE]! & MEMBER_MASK) !== 0) this.#drain(record);
      const next = records[record + SLOT_LINK]!;
      records[record + SLOT_LINK] = UNLINKED;
      record = next;
    }
  }

  /** Decodes a long frame, or one that may lack rows, and returns its place. */
  #decodeAlone(batch: FrameBatch, frame: number, slot: number, low: number, high: number): number {
    const { records, carried } = this.#slots;
    const record = slot * RECORD_SIZE;
    if ((records[record + SLOT_NEXT_PLACE]! & MEMBER_MASK) !== 0) this.#drain(record);
    records[record + SLOT_LOW] = low;
    records[record + SLOT_HIGH] = high;
    records[record + SLOT_LIST] = FEWER_SIGNALS;
    const begin = this.#valueEnd;
    carried[slot] = this.#rowDecoder.decodeFrame(this.#view, batch, frame, slot, this.#readings, begin);
    this.#valueEnd += carried[slot].length;
    return this.#group(this.#fewer(slot), begin, 1);
  }

  /** Adds the signals of the slot's last frame as a list of this batch. Returns the number of the list. */
  #fewer(slot: number): number {
    const { fewer } = this.#readings;
    fewer.push(this.#slots.carried[slot]!);
    return -fewer.length;
  }

  /** Begins a group of one frame and returns the place of the frame. */
  #group(list: number, begin: number, step: number): number {
    const { groups } = this.#readings;
    const group = this.#groupCount++;
    groups[group * GROUP_SIZE + GROUP_LIST] = list;
    groups[group * GROUP_SIZE + GROUP_BEGIN] = begin;
    groups[group * GROUP_SIZE + GROUP_STEP] = step;
    return group << GROUP_SHIFT;
  }

  /** Creates the tables of a bus at its first frame. */
  #prepare(number: number): BusSlots {
    const bus = this.#slots.prepare(this.#buses[number]);
    this.#byBus[number] = bus;
    if (this.#standard.length < (number + 1) << 11) {
      const larger = new Int32Array((number + 1) << 11).fill(UNSEEN);
      larger.set(this.#standard);
      this.#standard = larger;
    }
    this.#standard.set(
      bus.standard.map((slot) => (slot < 0 ? slot : slot * RECORD_SIZE)),
      number << 11,
    );
    return bus;
  }
}
