import { ERROR, type FrameBatch, type FrameDecoder, REMOTE, type ReadingSink } from '../../../agent/ports.ts';
import { DecodeTables, UNWANTED } from './decode-tables.ts';
import { Halves, loadPadded, REGISTERS, rawOf, STRIDE } from './extraction.ts';
import { longestPayload } from './layout.ts';
import type { BoundDatabase } from './matching.ts';
import {
  type BusSlots,
  HEAD,
  LAST,
  LAST_HIGH,
  LAST_LOW,
  NO_SLOT,
  SLOT_END,
  SLOT_FIRST,
  SLOT_MIXED,
  SLOT_PLAIN,
  Slots,
  TAIL,
} from './slots.ts';
import { type UnknownSignal, unknownSignal, type WantedSignal } from './wanted.ts';
import { cutWindows, WINDOWS, windowRaw, windowSignal } from './window.ts';

/** What was seen since the decoder was made. */
export interface DecodeCounts {
  /** Frames that carry wanted signals. */
  frames: number;
  /** Of these, equal to the one before of their identifier. */
  repeated: number;
  /** Of the others, too short for at least one wanted signal. */
  short: number;
  /** Wanted signals that did not fit in their frames. */
  missed: number;
}

/** An identifier not looked up yet, as opposed to looked up and of no interest. */
const UNSEEN = -2;
/** Numbers of one entry of the work list: index of the frame, its slot, and what is to be done. */
const ENTRY = 3;
/** Added to SLOT_MIXED: some rows may not be in the payload; the frame equals the last one of its identifier. */
const FITTING = 2;
const REPEATED = 4;

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
  /** By bus and 11-bit identifier: the slot, NO_SLOT or UNSEEN. */
  #standard = new Int32Array(0);
  readonly #tables = new DecodeTables();
  readonly #slots: Slots;
  readonly #registers = new Int32Array(REGISTERS);
  readonly #halves = new Halves();
  /** Windows of the frame being delivered, see window.ts. */
  readonly #windows = new Int32Array(WINDOWS);
  /** Of the payloads of the batch. */
  #view: DataView = new DataView(new ArrayBuffer(0));
  #work = new Int32Array(0);
  /** Numbers written into the work list. */
  #filled = 0;
  /** Per row, while a frame is decoded whose rows depend on each other: raw value, and whether it was there. */
  #raw = new Float64Array(0);
  #there = new Uint8Array(0);

  /** @param buses names that {@link FrameBatch.bus} indexes; may grow later. */
  constructor(wanted: readonly WantedSignal[], bound: readonly BoundDatabase[], buses: readonly string[]) {
    this.#buses = buses;
    this.#slots = new Slots(this.#tables, wanted, bound);
    this.problems = wanted.flatMap((one, index) => unknownSignal(one, index, bound) ?? []);
  }

  decode(batch: FrameBatch, sink: ReadingSink): void {
    if (this.#work.length < batch.count * ENTRY) this.#work = new Int32Array(batch.count * ENTRY);
    const { buffer, byteOffset, byteLength } = batch.data;
    const { buffer: before, byteOffset: from, byteLength: size } = this.#view;
    // Making a view costs more than decoding a frame, and sources fill the same batch again and again.
    if (buffer !== before || byteOffset !== from || byteLength !== size) {
      this.#view = new DataView(buffer, byteOffset, byteLength);
    }
    this.#filled = 0;
    for (let i = 0; i < batch.count; ) {
      i = this.#selectClassic(batch, i);
      i = this.#selectOthers(batch, i);
    }
    for (let entry = 0; entry < this.#filled; ) {
      entry = this.#deliverPlain(batch, entry, sink);
      if (entry >= this.#filled) break;
      const action = this.#work[entry + 2]!;
      if ((action & FITTING) !== 0) this.#deliverFitting(batch, entry, sink);
      else this.#deliverMixed(batch, entry, sink);
      entry += ENTRY;
    }
    this.counts.frames += this.#filled / ENTRY;
  }

  /*
   * Nearly all frames take two loops, selectClassic and deliverPlain, which call nothing but the sink. So the compiler
   * keeps in the loop what it knows of the arrays; after any other call it would look them all up again for the next
   * frame, which costs as much as decoding a signal. Hence what is rare leaves the loop, and some lines stand twice.
   */

  /**
   * Finds the frames that carry something wanted, among those with 11-bit identifiers seen before and at most eight
   * bytes, and compares each with the last of its identifier.
   * @returns the first frame that is of another kind.
   */
  #selectClassic(batch: FrameBatch, start: number): number {
    const { count, id, bus, length, offset } = batch;
    const view = this.#view;
    const work = this.#work;
    const { heads } = this.#slots;
    const standard = this.#standard;
    const known = standard.length;
    let filled = this.#filled;
    let i = start;
    for (; i < count; i++) {
      const identifier = id[i]! | 0;
      if (identifier >>> 11 !== 0) break;
      const place = (bus[i]! << 11) | identifier;
      if (place >= known) break;
      const slot = standard[place]!;
      if (slot === NO_SLOT) continue;
      const bytes = length[i]!;
      if (slot === UNSEEN || bytes > 8) break;
      const from = offset[i]!;
      const head = slot * HEAD;
      // Payloads are padded to eight bytes, so both words are always there.
      const low = view.getInt32(from, true);
      const high = view.getInt32(from + 4, true);
      const differs =
        (heads[head + LAST]! ^ bytes) | (heads[head + LAST_LOW]! ^ low) | (heads[head + LAST_HIGH]! ^ high);
      heads[head + LAST] = bytes;
      heads[head + LAST_LOW] = low;
      heads[head + LAST_HIGH] = high;
      work[filled] = i;
      work[filled + 1] = slot;
      work[filled + 2] =
        (differs === 0 ? REPEATED : 0) | (bytes < heads[head + SLOT_PLAIN]! ? FITTING : heads[head + SLOT_MIXED]!);
      filled += ENTRY;
    }
    this.#filled = filled;
    return i;
  }

  /** As {@link #selectClassic}, for the frames it leaves: stops where it can go on. */
  #selectOthers(batch: FrameBatch, start: number): number {
    const { count, id, bus, length, offset } = batch;
    const view = this.#view;
    const work = this.#work;
    let filled = this.#filled;
    let i = start;
    for (; i < count; i++) {
      const identifier = id[i]! | 0;
      const bytes = length[i]!;
      if (identifier >>> 11 === 0 && bytes <= 8 && i > start) break;
      if ((identifier & (REMOTE | ERROR)) !== 0 || (identifier >= 0 && identifier >>> 11 !== 0)) continue;
      const on = this.#byBus[bus[i]!] ?? this.#prepare(bus[i]!);
      let slot = identifier < 0 ? on.extended.get(identifier & 0x1fff_ffff, UNSEEN) : on.standard[identifier]!;
      if (slot === UNSEEN) slot = this.#slots.discover(on, identifier & 0x1fff_ffff);
      if (slot < 0) continue;
      const { heads } = this.#slots;
      const from = offset[i]!;
      const head = slot * HEAD;
      const low = view.getInt32(from, true);
      const high = view.getInt32(from + 4, true);
      let differs = (heads[head + LAST]! ^ bytes) | (heads[head + LAST_LOW]! ^ low) | (heads[head + LAST_HIGH]! ^ high);
      heads[head + LAST] = bytes;
      heads[head + LAST_LOW] = low;
      heads[head + LAST_HIGH] = high;
      if (bytes > 8) differs |= this.#tailDiffers(view, from, bytes, slot);
      work[filled] = i;
      work[filled + 1] = slot;
      work[filled + 2] =
        (differs === 0 ? REPEATED : 0) | (bytes < heads[head + SLOT_PLAIN]! ? FITTING : heads[head + SLOT_MIXED]!);
      filled += ENTRY;
    }
    this.#filled = filled;
    return i;
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

  /**
   * Delivers frames of which every row is taken from a window, and repeated frames of any kind.
   * @returns the first entry of the work list that is neither.
   */
  #deliverPlain(batch: FrameBatch, start: number, sink: ReadingSink): number {
    const { at, offset } = batch;
    const view = this.#view;
    const work = this.#work;
    const near = this.#windows;
    const filled = this.#filled;
    const { heads, signals, carried } = this.#slots;
    const { windows, scales } = this.#tables;
    let repeated = 0;
    let entry = start;
    for (; entry < filled; entry += ENTRY) {
      const frame = work[entry]!;
      const slot = work[entry + 1]!;
      const action = work[entry + 2]!;
      const when = at[frame]!;
      if (action !== 0) {
        if ((action & REPEATED) === 0) break;
        repeated++;
        const alive = (action & FITTING) !== 0 ? carried[slot]! : signals[slot]!;
        if (alive.length > 0) sink.alive(alive, when);
        continue;
      }
      cutWindows(near, view, offset[frame]!);
      const head = slot * HEAD;
      const end = heads[head + SLOT_END]!;
      for (let row = heads[head + SLOT_FIRST]!; row < end; row++) {
        const packed = windows[row]!;
        const raw = windowRaw(near, packed);
        const value = raw * scales[row << 1]! + scales[(row << 1) | 1]!;
        sink.reading(windowSignal(packed), value, raw, when);
      }
      sink.settled(when);
    }
    this.counts.repeated += repeated;
    return entry;
  }

  /** Delivers a frame that has every row, some of them wide integers or floats. */
  #deliverMixed(batch: FrameBatch, entry: number, sink: ReadingSink): void {
    const { windows, indexes, scales, operations } = this.#tables;
    const { heads } = this.#slots;
    const near = this.#windows;
    const frame = this.#work[entry]!;
    const head = this.#work[entry + 1]! * HEAD;
    const when = batch.at[frame]!;
    const view = this.#view;
    cutWindows(near, view, batch.offset[frame]!);
    loadPadded(this.#registers, view, batch.offset[frame]!, batch.length[frame]!);
    const end = heads[head + SLOT_END]!;
    for (let row = heads[head + SLOT_FIRST]!; row < end; row++) {
      const packed = windows[row]!;
      const raw =
        packed === 0 ? rawOf(this.#registers, operations, row * STRIDE, this.#halves) : windowRaw(near, packed);
      sink.reading(indexes[row]!, raw * scales[row * 2]! + scales[row * 2 + 1]!, raw, when);
    }
    sink.settled(when);
  }

  /** Some rows may not be in the payload: it is short, or a multiplexor selects others. */
  #deliverFitting(batch: FrameBatch, entry: number, sink: ReadingSink): void {
    const frame = this.#work[entry]!;
    const slot = this.#work[entry + 1]!;
    const tables = this.#tables;
    const first = this.#slots.heads[slot * HEAD + SLOT_FIRST]!;
    const end = this.#slots.heads[slot * HEAD + SLOT_END]!;
    const carried = this.#slots.carried[slot]!;
    const bytes = batch.length[frame]!;
    if (this.#raw.length < tables.rows) {
      this.#raw = new Float64Array(tables.rows);
      this.#there = new Uint8Array(tables.rows);
    }
    const view = this.#view;
    loadPadded(this.#registers, view, batch.offset[frame]!, bytes);
    carried.length = 0;
    let missed = 0;
    for (let row = first; row < end; row++) {
      const parent = tables.parents[row]!;
      this.#there[row] = 0;
      if (parent >= 0 && (this.#there[parent] === 0 || !tables.selects(row, parent, this.#raw[parent]!))) continue;
      const index = tables.indexes[row]!;
      if (tables.needs[row]! > bytes) {
        if (index !== UNWANTED) missed++;
        continue;
      }
      const raw = rawOf(this.#registers, tables.operations, row * STRIDE, this.#halves);
      this.#raw[row] = raw;
      this.#there[row] = 1;
      if (index === UNWANTED) continue;
      carried.push(index);
      sink.reading(index, raw * tables.scales[row * 2]! + tables.scales[row * 2 + 1]!, raw, batch.at[frame]!);
    }
    if (missed > 0) {
      this.counts.short++;
      this.counts.missed += missed;
    }
    if (carried.length > 0) sink.settled(batch.at[frame]!);
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
    this.#standard.set(bus.standard, number << 11);
    return bus;
  }
}
