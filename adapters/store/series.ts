/**
 * The live collection that the journal keeps: entries that are numbered within a series, each number used once
 * for ever. Changing it takes effect in memory at once and queues an operation; the journal takes the queue.
 *
 * A journal record is a CBOR array that starts with its type:
 *
 * | record | meaning |
 * |---|---|
 * | `[1, series, number, ...fields]` | the entry exists |
 * | `[2, series, number]` | the entry is removed, for ever |
 * | `[3, [series, next, ranges], …]` | checkpoint: `next` is the next free number, and of the numbers below it only those in `ranges` exist, written as gap, count, gap, count, … from 0 |
 *
 * A removed entry never returns, so reading a record twice does no harm, and the newest checkpoint makes every
 * older removal superfluous. That is why a segment may go as soon as no entry lives in it.
 */
import { VigieError } from '../../protocol/errors.ts';
import type { Item } from './batch.ts';

/** What the collection needs to know of its entries. */
export interface EntryCodec<E> {
  series(entry: E): number;
  number(entry: E): number;
  /** What the entry takes of the bound on the store, in bytes. */
  bytes(entry: E): number;
  /** The members beside series and number. */
  fields(entry: E): readonly Item[];
  /** The entry again, or undefined when the fields are not those of an entry; unknown further fields are ignored. */
  entry(series: number, number: number, fields: readonly unknown[]): E | undefined;
}

/** What a segment of the journal counts about the entries whose newest record lies in it. */
export interface Residence {
  /** Bytes of records of entries that exist. */
  live: number;
  /** Those entries, and some that no longer exist. */
  readonly slots: Slot<unknown>[];
}

/** The place of one entry. */
export interface Slot<E> {
  readonly series: number;
  readonly number: number;
  /** Undefined once removed. */
  entry: E | undefined;
  /** Where its newest record lies; undefined while that is not written. */
  residence: Residence | undefined;
  /** Bytes of that record. */
  size: number;
}

export interface Removal {
  readonly series: number;
  readonly number: number;
}

export type Operation<E> = Slot<E> | Removal;

/** Result of reading a record back. */
export type Reading = 'known' | 'unknown' | 'malformed';

interface Line<E> {
  next: number;
  readonly slots: Map<number, Slot<E>>;
}

type CheckpointLine = readonly [series: number, next: number, ranges: readonly number[]];

const existsRecord = 1;
const removedRecord = 2;
const checkpointRecord = 3;

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isCheckpointLine(line: unknown): line is CheckpointLine {
  if (!Array.isArray(line)) return false;
  const [series, next, ranges] = line as readonly unknown[];
  return isCount(series) && isCount(next) && Array.isArray(ranges) && ranges.length % 2 === 0 && ranges.every(isCount);
}

/** Whether an operation is about an entry that exists or did, rather than a removal. */
export function isSlot<E>(operation: Operation<E>): operation is Slot<E> {
  return 'residence' in operation;
}

/** Notes where the newest record of an entry lies now. */
export function place<E>(slot: Slot<E>, residence: Residence | undefined, size: number): void {
  if (slot.residence !== undefined) slot.residence.live -= slot.size;
  slot.residence = residence;
  slot.size = size;
  if (residence === undefined) return;
  residence.live += size;
  residence.slots.push(slot);
}

export class NumberedSeries<E> {
  readonly #codec: EntryCodec<E>;
  readonly #lines = new Map<number, Line<E>>();
  #operations: Operation<E>[] = [];
  #bytes = 0;
  /** The checkpoint read last, to apply when all is read. */
  #checkpoint: readonly CheckpointLine[] = [];

  constructor(codec: EntryCodec<E>) {
    this.#codec = codec;
  }

  /** Bytes that the entries take, by the codec's measure. */
  get bytes(): number {
    return this.#bytes;
  }

  /** All entries, by series, then by number. */
  *values(): Generator<E, void, undefined> {
    for (const series of [...this.#lines.keys()].sort((a, b) => a - b)) {
      for (const slot of this.#lines.get(series)!.slots.values()) if (slot.entry !== undefined) yield slot.entry;
    }
  }

  /** The next free number of a series, from 0. */
  next(series: number): number {
    return this.#lines.get(series)?.next ?? 0;
  }

  /** Throws `input.malformed` for a number that is not free: below {@link next} all are used up. */
  append(entry: E): void {
    const series = this.#codec.series(entry);
    const number = this.#codec.number(entry);
    if (!isCount(series) || !isCount(number)) {
      throw new VigieError('input.malformed', `series ${series}, number ${number}: both must be integers from 0`);
    }
    const line = this.#line(series);
    if (number < line.next) {
      throw new VigieError('input.malformed', `number ${number} of series ${series} was used; ${line.next} is free`);
    }
    this.#operations.push(this.#insert(line, series, number, entry));
  }

  /** Removes an entry; false, and nothing happens, when it does not exist. */
  remove(series: number, number: number): boolean {
    const line = this.#lines.get(series);
    const slot = line?.slots.get(number);
    if (line === undefined || slot === undefined) return false;
    this.#delete(line, slot);
    this.#operations.push({ series, number });
    return true;
  }

  // What follows is for the journal.

  /** Operations not yet taken. */
  get queued(): number {
    return this.#operations.length;
  }

  /** Takes all operations; entries that were removed meanwhile have `entry` undefined and need no record. */
  takeOperations(): Operation<E>[] {
    const taken = this.#operations;
    this.#operations = [];
    return taken;
  }

  /** Gives back operations that could not be written, before those queued since. */
  returnOperations(operations: readonly Operation<E>[]): void {
    this.#operations = operations.concat(this.#operations);
  }

  /** Queues a further record of an entry that has one. */
  queueMove(slot: Slot<E>): void {
    this.#operations.push(slot);
  }

  /**
   * After a failed write: leaves only entries that have no record, with those of `unwritten`, oldest first. A
   * checkpoint after them says what the dropped removals said.
   */
  requeue(unwritten: readonly Slot<E>[]): void {
    const slots = new Set([...unwritten, ...this.#operations.filter(isSlot)]);
    this.#operations = [...slots]
      .filter((slot) => slot.entry !== undefined && slot.residence === undefined)
      .sort((a, b) => a.series - b.series || a.number - b.number);
  }

  /** The record of an operation; undefined when it needs none. */
  record(operation: Operation<E>): readonly Item[] | undefined {
    if (!isSlot(operation)) return [removedRecord, operation.series, operation.number];
    if (operation.entry === undefined) return undefined;
    return [existsRecord, operation.series, operation.number, ...this.#codec.fields(operation.entry)];
  }

  /**
   * A checkpoint of all that is written: numbers of entries without a record are left free, so that a crash
   * before their records leaves no hole in the numbers. To be asked for with no operations taken.
   */
  checkpoint(): readonly Item[] {
    const free = new Map<number, number>();
    for (const operation of this.#operations) {
      if (!isSlot(operation) || operation.entry === undefined || operation.residence !== undefined) continue;
      free.set(operation.series, Math.min(operation.number, free.get(operation.series) ?? operation.number));
    }
    const lines: Item[] = [];
    for (const [series, line] of this.#lines) {
      const next = free.get(series) ?? line.next;
      lines.push([series, next, ranges(line, next)]);
    }
    return [checkpointRecord, ...lines];
  }

  /** Takes a record read back from the journal. */
  replay(record: unknown, residence: Residence, size: number): Reading {
    if (!Array.isArray(record)) return 'malformed';
    const [type, series, number] = record as readonly unknown[];
    if (!isCount(type)) return 'malformed';
    if (type === checkpointRecord) return this.#replayCheckpoint(record.slice(1));
    if (type !== existsRecord && type !== removedRecord) return 'unknown';
    if (!isCount(series) || !isCount(number)) return 'malformed';
    if (type === removedRecord) {
      const line = this.#line(series);
      const slot = line.slots.get(number);
      if (slot !== undefined) this.#delete(line, slot);
      line.next = Math.max(line.next, number + 1);
      return 'known';
    }
    const entry = this.#codec.entry(series, number, record.slice(3));
    if (entry === undefined) return 'malformed';
    const line = this.#line(series);
    const older = line.slots.get(number);
    if (older !== undefined) this.#delete(line, older);
    place(this.#insert(line, series, number, entry), residence, size);
    return 'known';
  }

  /** After the last record: puts entries in order and drops those the newest checkpoint does not name. */
  settle(): void {
    for (const line of this.#lines.values()) {
      const slots = [...line.slots.values()];
      if (slots.every((slot, i) => i === 0 || slots[i - 1]!.number < slot.number)) continue;
      line.slots.clear();
      for (const slot of slots.sort((a, b) => a.number - b.number)) line.slots.set(slot.number, slot);
    }
    for (const [series, next, ranges] of this.#checkpoint) {
      const line = this.#line(series);
      let i = 0;
      let start = 0;
      let end = 0;
      for (const slot of line.slots.values()) {
        if (slot.number >= next) break;
        while (slot.number >= end && i < ranges.length) {
          start = end + ranges[i]!;
          end = start + ranges[i + 1]!;
          i += 2;
        }
        if (slot.number < start || slot.number >= end) this.#delete(line, slot);
      }
    }
    this.#checkpoint = [];
  }

  #replayCheckpoint(lines: readonly unknown[]): Reading {
    if (!lines.every(isCheckpointLine)) return 'malformed';
    this.#checkpoint = lines;
    for (const [series, next] of lines) {
      const line = this.#line(series);
      line.next = Math.max(line.next, next);
    }
    return 'known';
  }

  #line(series: number): Line<E> {
    let line = this.#lines.get(series);
    if (line === undefined) {
      line = { next: 0, slots: new Map() };
      this.#lines.set(series, line);
    }
    return line;
  }

  #insert(line: Line<E>, series: number, number: number, entry: E): Slot<E> {
    const slot: Slot<E> = { series, number, entry, residence: undefined, size: 0 };
    line.slots.set(number, slot);
    line.next = Math.max(line.next, number + 1);
    this.#bytes += this.#codec.bytes(entry);
    return slot;
  }

  #delete(line: Line<E>, slot: Slot<E>): void {
    line.slots.delete(slot.number);
    if (slot.entry !== undefined) this.#bytes -= this.#codec.bytes(slot.entry);
    slot.entry = undefined;
    place(slot, undefined, 0);
  }
}

/** The numbers below `next` that exist, as gap, count, gap, count, …. */
function ranges<E>(line: Line<E>, next: number): number[] {
  const [first] = line.slots.keys();
  if (first === undefined || first >= next) return [];
  // Mostly the oldest go first and what is left has no gaps.
  if (line.slots.size === line.next - first) return [first, next - first];
  const result: number[] = [];
  let end = 0;
  for (const number of line.slots.keys()) {
    if (number >= next) break;
    if (result.length > 0 && number === end) result[result.length - 1]!++;
    else result.push(number - end, 1);
    end = number + 1;
  }
  return result;
}
