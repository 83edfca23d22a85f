import { ERROR, type FrameBatch, type FrameDecoder, REMOTE, type ReadingSink } from '../../../agent/ports.ts';
import { DecodeTables, END, FIRST, MOTOROLA, PLAIN, REST, UNWANTED } from './decode-tables.ts';
import { Halves, load, REGISTERS, rawOf, STRIDE } from './extraction.ts';
import { longestPayload } from './layout.ts';
import type { BoundDatabase } from './matching.ts';
import { type BusSlots, KEPT, NO_SLOT, Slots } from './slots.ts';
import { type UnknownSignal, unknownSignal, type WantedSignal } from './wanted.ts';
import { windowByte, windowRaw } from './window.ts';

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
/** Numbers of one entry of the work list: index of the frame, its slot, and 1 when it equals the last one. */
const ENTRY = 3;

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
  readonly #tables = new DecodeTables();
  readonly #slots: Slots;
  readonly #registers = new Int32Array(REGISTERS);
  readonly #halves = new Halves();
  #work = new Int32Array(0);
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
    this.#deliver(batch, this.#select(batch), sink);
  }

  /**
   * Finds the frames that carry something wanted and compares each with the last of its identifier. Apart from
   * the delivery, so that each loop has few enough variables to keep in registers.
   * @returns the numbers written into the work list.
   */
  #select(batch: FrameBatch): number {
    const { count, id, bus, length, offset, data } = batch;
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const work = this.#work;
    const slots = this.#slots;
    let filled = 0;
    for (let i = 0; i < count; i++) {
      const identifier = id[i]! | 0;
      if ((identifier & (REMOTE | ERROR)) !== 0) continue;
      const on = this.#byBus[bus[i]!] ?? this.#prepare(bus[i]!);
      let slot = NO_SLOT;
      if (identifier >= 0) {
        if (identifier < 2048) slot = on.standard[identifier]!;
      } else {
        slot = on.extended.get(identifier & 0x1fff_ffff, UNSEEN);
        if (slot === UNSEEN) slot = slots.discover(on, identifier & 0x1fff_ffff);
      }
      if (slot < 0) continue;
      const bytes = Math.min(length[i]!, longestPayload);
      const from = offset[i]!;
      const last = slots.last;
      let kept = slot * KEPT;
      let same = last[kept] === bytes;
      last[kept] = bytes;
      for (let byte = 0; byte < bytes; byte += 4) {
        const word = view.getInt32(from + byte, true);
        kept++;
        if (last[kept] !== word) {
          last[kept] = word;
          same = false;
        }
      }
      work[filled] = i;
      work[filled + 1] = slot;
      work[filled + 2] = same ? 1 : 0;
      filled += ENTRY;
    }
    return filled;
  }

  #deliver(batch: FrameBatch, filled: number, sink: ReadingSink): void {
    const { at, length, offset, data } = batch;
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const work = this.#work;
    const planOf = this.#slots.plan;
    const { plans, windows, scales } = this.#tables;
    let repeated = 0;
    for (let entry = 0; entry < filled; entry += ENTRY) {
      const frame = work[entry]!;
      const slot = work[entry + 1]!;
      const plan = planOf[slot]!;
      const when = at[frame]!;
      const plain = length[frame]! >= plans[plan + PLAIN]!;
      if (work[entry + 2] === 1) {
        repeated++;
        const signals = plain ? this.#slots.signals(slot) : this.#slots.carried[slot]!;
        if (signals.length > 0) sink.alive(signals, when);
        continue;
      }
      const from = offset[frame]!;
      if (!plain) {
        this.#deliverFitting(batch, frame, slot, sink);
        continue;
      }
      let row = plans[plan + FIRST]!;
      for (const end = plans[plan + MOTOROLA]!; row < end; row++) {
        const packed = windows[row * 2]!;
        const raw = windowRaw(view.getInt32(from + windowByte(packed), true), packed);
        sink.reading(windows[row * 2 + 1]!, raw * scales[row * 2]! + scales[row * 2 + 1]!, raw, when);
      }
      for (const end = plans[plan + REST]!; row < end; row++) {
        const packed = windows[row * 2]!;
        const raw = windowRaw(view.getInt32(from + windowByte(packed), false), packed);
        sink.reading(windows[row * 2 + 1]!, raw * scales[row * 2]! + scales[row * 2 + 1]!, raw, when);
      }
      if (row < plans[plan + END]!) this.#deliverRest(batch, frame, plan, sink);
      sink.settled(when);
    }
    this.counts.frames += filled / ENTRY;
    this.counts.repeated += repeated;
  }

  /** Wide integers and floats of a payload that has every row. */
  #deliverRest(batch: FrameBatch, frame: number, plan: number, sink: ReadingSink): void {
    const { plans, windows, scales, operations } = this.#tables;
    load(this.#registers, batch.data, batch.offset[frame]!, batch.length[frame]!);
    for (let row = plans[plan + REST]!; row < plans[plan + END]!; row++) {
      const raw = rawOf(this.#registers, operations, row * STRIDE, this.#halves);
      const value = raw * scales[row * 2]! + scales[row * 2 + 1]!;
      sink.reading(windows[row * 2 + 1]!, value, raw, batch.at[frame]!);
    }
  }

  /** Some rows may not be in the payload: it is short, or a multiplexor selects others. */
  #deliverFitting(batch: FrameBatch, frame: number, slot: number, sink: ReadingSink): void {
    const tables = this.#tables;
    const plan = this.#slots.plan[slot]!;
    const carried = this.#slots.carried[slot]!;
    const bytes = batch.length[frame]!;
    if (this.#raw.length < tables.rows) {
      this.#raw = new Float64Array(tables.rows);
      this.#there = new Uint8Array(tables.rows);
    }
    load(this.#registers, batch.data, batch.offset[frame]!, bytes);
    carried.length = 0;
    let missed = 0;
    for (let row = tables.plans[plan + FIRST]!; row < tables.plans[plan + END]!; row++) {
      const parent = tables.parents[row]!;
      this.#there[row] = 0;
      if (parent >= 0 && (this.#there[parent] === 0 || !tables.selects(row, parent, this.#raw[parent]!))) continue;
      const index = tables.windows[row * 2 + 1]!;
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

  #prepare(number: number): BusSlots {
    const bus = this.#slots.prepare(this.#buses[number]);
    this.#byBus[number] = bus;
    return bus;
  }
}
