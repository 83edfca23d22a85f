/** Output of every parser of log files: the current batch, the bus names, and the faults found so far. */
import { ERROR, EXTENDED, type FrameBatch } from '../../../agent/ports.ts';
import type { Diagnostic } from '../../../protocol/diagnostic.ts';
import { append, createBatch } from '../frames.ts';

/** Maximum number of faults stored as diagnostics. Later faults are only counted. */
const faultsKept = 10;

/** Maximum number of frames in a batch. */
export const batchCapacity = 4096;

/** Payload bytes of the longest CAN FD frame. */
export const MAX_PAYLOAD_BYTES = 64;

/**
 * Identifier of an error frame whose class the log does not contain: class "bus error" of linux/can/error.h
 * (CAN_ERR_BUSERROR), with eight zero data bytes.
 */
export const busError = (ERROR | 0x80) >>> 0;

/** CAN frames, or lines that should be CAN frames, that were left out for one reason. */
export interface LeftOut {
  readonly reason: string;
  count: number;
  /** The first frame or line left out. */
  readonly example: Diagnostic;
}

/** Maximum number of reasons that are counted separately. A file of random bytes has many. */
const mostReasons = 100;
/** Maximum number of kinds of skipped entries that are counted separately. */
const MAX_KINDS = 100;
const otherReasons = 'other reasons';

/** Reads a file's bytes into a batch. Never throws on bad content: it reports a fault and continues. */
export interface LogParser {
  /**
   * Reads whole records (lines, objects) of `bytes` from `from`, until the batch is full or the next record is
   * incomplete. `last`: no bytes follow, so an incomplete record stays incomplete.
   * @returns the position of the first unread byte. The caller passes the bytes from there again, with the next bytes.
   */
  parse(bytes: Uint8Array, from: number, end: number, last: boolean): number;
}

export class Recording {
  readonly batch: FrameBatch = createBatch(batchCapacity, batchCapacity * MAX_PAYLOAD_BYTES);
  readonly buses: string[] = [];
  /** Bus names found in the log, as bytes, in the order of {@link buses} unless all frames go to one bus. */
  readonly names: Uint8Array[] = [];
  readonly faults: { count: number; readonly first: Diagnostic[] } = { count: 0, first: [] };
  /** The {@link faults}, counted by reason. */
  readonly leftOut: Map<string, LeftOut> = new Map();
  /** Entries that are not CAN data or remote frames (comments, events, frames of other buses), counted by kind. */
  readonly passedOver: Map<string, number> = new Map();
  /** File name in diagnostics; for an entry of an archive, the archive and the entry. */
  file: string;
  /** Bus to which all frames are assigned, whatever the log contains. */
  readonly only: string | undefined;
  /** Buffer for the payload of the frame being parsed. */
  readonly payload: Uint8Array = new Uint8Array(MAX_PAYLOAD_BYTES);
  private readonly channels = new Map<number, number>();

  constructor(file: string, only?: string) {
    this.file = file;
    this.only = only;
    if (only !== undefined) this.buses.push(only);
  }

  get full(): boolean {
    return this.batch.count >= batchCapacity;
  }

  /**
   * Counts a fault.
   * @param line 1-based; 0 if the log has no lines
   * @param reason the message without the details of this fault
   * @param count number of frames lost
   */
  fault(line: number, message: string, reason = message, count = 1): void {
    const { faults, leftOut } = this;
    const diagnostic: Diagnostic = { file: this.file, line, severity: 'error', message };
    faults.count += count;
    if (faults.first.length < faultsKept) faults.first.push(diagnostic);
    const name = leftOut.has(reason) || leftOut.size < mostReasons ? reason : otherReasons;
    const same = leftOut.get(name);
    if (same === undefined) leftOut.set(name, { reason: name, count, example: diagnostic });
    else same.count += count;
  }

  /** Counts a packing that ends early as a fault. */
  brokenPacking(why: string): void {
    this.fault(0, `the compressed data are broken: ${why}`, 'the compressed data are broken');
  }

  /** Counts entries other than CAN data and remote frames, by kind in the plural: `comments`, `LIN frames`. */
  passOver(kind: string, count = 1): void {
    const { passedOver } = this;
    const name = passedOver.has(kind) || passedOver.size < MAX_KINDS ? kind : 'others';
    passedOver.set(name, (passedOver.get(name) ?? 0) + count);
  }

  /** Returns the index of the bus `name`, or -1 after 256 other names, the most that a batch can distinguish. */
  bus(name: string): number {
    if (this.only !== undefined) return 0;
    const known = this.buses.indexOf(name);
    if (known >= 0 || this.buses.length >= 256) return known;
    this.names.push(new TextEncoder().encode(name));
    return this.buses.push(name) - 1;
  }

  /** As {@link bus}, for the name between two positions. */
  busAt(bytes: Uint8Array, from: number, to: number): number {
    const { names } = this;
    search: for (let index = 0; index < names.length; index++) {
      const name = names[index] as Uint8Array;
      if (name.length !== to - from) continue;
      for (let i = 0; i < name.length; i++) if (name[i] !== bytes[from + i]) continue search;
      return this.only === undefined ? index : 0;
    }
    if (this.only !== undefined && names.length < 256) names.push(bytes.slice(from, to));
    return this.bus(new TextDecoder().decode(bytes.subarray(from, to)));
  }

  /** Returns the index of the bus with this number, from 0, named `can0`, `can1`, …; -1 as for {@link bus}. */
  channel(number: number): number {
    let index = this.channels.get(number);
    if (index === undefined) {
      index = this.bus(`can${number}`);
      if (index >= 0) this.channels.set(number, index);
    }
    return index;
  }

  /** Returns the index of the bus of a log that does not name its bus. */
  unnamed(): number {
    return this.bus('can0');
  }

  /** Adds a frame with the first `length` bytes of {@link payload}. The batch must not be full. */
  add(at: number, id: number, bus: number, flags: number, length: number): void {
    append(this.batch, at, id, bus, flags, this.payload, length);
  }

  /** Adds a frame without payload: a remote frame with its requested length, or an error frame. */
  addEmpty(at: number, id: number, bus: number, flags: number, length: number): void {
    append(this.batch, at, id, bus, flags, none, length);
  }
}

const none = new Uint8Array(0);

/**
 * Returns the identifier with its EXTENDED bit, or -1 if it has more than 29 bits. An identifier beyond 11 bits is
 * extended even if the log contradicts, because on a bus it cannot be anything else.
 */
export function identifier(value: number, extended: boolean): number {
  if (value < 0 || value > 0x1fff_ffff) return -1;
  return extended || value > 0x7ff ? (value | EXTENDED) >>> 0 : value;
}

/** Payload lengths by data length code (ISO 11898-1, table 5). */
const lengths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];

/** Returns the payload bytes of an FD frame with this data length code, or -1 for a code beyond 15. */
export function lengthOfCode(code: number): number {
  return lengths[code] ?? -1;
}
