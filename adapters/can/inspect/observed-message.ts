import { FD, type FrameBatch } from '../../../agent/ports.ts';
import { type FoundChecksum, findChecksum, isWithin } from './checksums.ts';
import { type FoundCounter, findCounters } from './counters.ts';
import { Intervals } from './intervals.ts';
import { PayloadSample } from './payload-sample.ts';

/** Payload bytes of the longest CAN FD frame (ISO 11898-1). */
const LONGEST = 64;

/** Shared empty counts: most identifiers of a corrupt log occur only once. */
const NO_COUNTS = new Uint32Array(0);
const NO_NUMBERS = new Float64Array(0);

/** Facts about the frames of one identifier on one bus. The memory does not grow with their number. */
export class ObservedMessage {
  readonly bus: number;
  /** Identifier with EXTENDED bit. */
  readonly id: number;
  /** Number of data frames. */
  frames = 0;
  /** Number of remote frames of this identifier. */
  remotes = 0;
  /** Number of data frames in CAN FD format. */
  fdFrames = 0;
  /** Number of data frames with a payload that differs from that of the previous data frame. */
  changes = 0;
  /** UTC milliseconds of the first and the latest data frame. */
  first = Number.NaN;
  last = Number.NaN;
  readonly intervals: Intervals = new Intervals();
  readonly sample: PayloadSample = new PayloadSample();
  /** Number of bytes that were seen: the length of the longest payload. */
  longest = 0;
  /** The latest value of each byte. */
  latest: Uint8Array = new Uint8Array(8);
  /** Bits that did not keep the same value, by byte. */
  changed: Uint8Array = new Uint8Array(8);
  /** By bit, byte × 8 + bit within the byte: how often it changed, and when first. Empty while nothing has changed. */
  flips: Uint32Array = NO_COUNTS;
  firstFlips: Float64Array = NO_NUMBERS;
  #lengths = new Uint32Array(9);
  #previousLength = -1;
  #previousAt = Number.NaN;

  constructor(bus: number, id: number) {
    this.bus = bus;
    this.id = id;
  }

  /** Number of data frames by payload length in bytes, shortest first. */
  get lengths(): ReadonlyMap<number, number> {
    return new Map([...this.#lengths.entries()].filter(([, count]) => count > 0));
  }

  /** Most frequent payload length of the data frames in bytes; -1 without data frames. */
  get commonestLength(): number {
    return this.frames === 0 ? -1 : this.#lengths.indexOf(Math.max(...this.#lengths));
  }

  /** Finds counter and checksum of the frames of the commonest length by trial on a bounded sample of them. */
  findProtection(): { readonly counters: readonly FoundCounter[]; readonly checksum: FoundChecksum | undefined } {
    const length = this.commonestLength;
    const counters = findCounters(this.sample.runs(length));
    const checksum = findChecksum(this.sample.frames(length), counters);
    if (checksum === undefined) return { counters, checksum };
    return { counters: counters.filter((counter) => !isWithin(counter, checksum.place)), checksum };
  }

  /** Number of bits that changed. */
  get changedBits(): number {
    let count = 0;
    for (const byte of this.changed) for (let bits = byte; bits !== 0; bits &= bits - 1) count++;
    return count;
  }

  /** Call before a frame of another log: the time since the last frame is then meaningless. */
  endLog(): void {
    this.#previousAt = Number.NaN;
  }

  addRemote(): void {
    this.remotes++;
  }

  /** Adds data frame `i` of the batch. */
  add({ at, data, offset, length, flags }: FrameBatch, i: number): void {
    const time = at[i]!;
    const bytes = length[i]!;
    this.frames++;
    if ((flags[i]! & FD) !== 0) this.fdFrames++;
    if (this.frames === 1) this.first = time;
    this.last = time;
    this.intervals.add(time - this.#previousAt);
    this.#previousAt = time;
    if (bytes > this.longest) this.#lengthen(bytes, data, offset[i]!);
    this.#lengths[bytes]!++;
    const differs = this.#compare(data, offset[i]!, bytes, time) || bytes !== this.#previousLength;
    this.sample.offer(this.frames - 1, data, offset[i]!, bytes, differs);
    if (!differs) return;
    if (this.#previousLength >= 0) this.changes++;
    this.#previousLength = bytes;
  }

  #compare(data: Uint8Array, from: number, bytes: number, time: number): boolean {
    const { latest, changed } = this;
    let differs = false;
    for (let k = 0; k < bytes; k++) {
      const byte = data[from + k]!;
      const difference = byte ^ latest[k]!;
      if (difference === 0) continue;
      latest[k] = byte;
      changed[k]! |= difference;
      this.#flip(k, difference, time);
      differs = true;
    }
    return differs;
  }

  #flip(byte: number, difference: number, time: number): void {
    if (this.flips.length < this.latest.length * 8) this.#makeRoomForFlips();
    const { flips, firstFlips } = this;
    for (let bits = difference; bits !== 0; bits &= bits - 1) {
      const bit = byte * 8 + 31 - Math.clz32(bits & -bits);
      if (flips[bit] === 0) firstFlips[bit] = time;
      flips[bit]!++;
    }
  }

  /** Extends the length. Bytes that appear for the first time do not count as changed. */
  #lengthen(bytes: number, data: Uint8Array, from: number): void {
    if (bytes > this.latest.length) {
      this.latest = enlarged(this.latest, new Uint8Array(LONGEST));
      this.changed = enlarged(this.changed, new Uint8Array(LONGEST));
      this.#lengths = enlarged(this.#lengths, new Uint32Array(LONGEST + 1));
      if (this.flips.length > 0) this.#makeRoomForFlips();
    }
    for (let k = this.longest; k < bytes; k++) this.latest[k] = data[from + k]!;
    this.longest = bytes;
  }

  #makeRoomForFlips(): void {
    const bits = this.latest.length * 8;
    this.flips = enlarged(this.flips, new Uint32Array(bits));
    this.firstFlips = enlarged(this.firstFlips, new Float64Array(bits));
  }
}

function enlarged<A extends Uint8Array | Uint32Array | Float64Array>(before: A, after: A): A {
  after.set(before);
  return after;
}
