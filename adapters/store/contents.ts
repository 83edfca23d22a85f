/**
 * The collection that the journal persists: series of numbered entries. An entry has a row in memory and a record on the
 * disk. A change takes effect in the rows at once; its record waits in the batch, whose bytes are those that the next group
 * appends to the segment.
 */

import type { Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import { type Run, Runs } from '../../protocol/runs.ts';
import { type Item, RecordBatch } from './batch.ts';
import { RecordCursor } from './cursor.ts';
import { Kinds } from './message-record.ts';
import { headLength, lengthAt } from './record.ts';
import {
  checkpointRecord,
  collectionRecord,
  messageRecord,
  removalRecord,
  type SeriesName,
  stateRecord,
} from './record-types.ts';
import { type RecordExtent, Rows, type Traits } from './rows.ts';
import type { Segment } from './segment.ts';

export class Series {
  readonly name: SeriesName;
  readonly rows = new Rows();
  /** The next free number. */
  next = 0;
  /** Numbers of entries that were given up or lost and are not yet reported to a receiver. */
  readonly owed = new Runs();
  /** Called for each entry before its removal. */
  forget: ((row: number) => void) | undefined;

  constructor(name: SeriesName) {
    this.name = name;
  }

  /** The numbers that a checkpoint names: those of entries and those that are owed. */
  ranges(): number[] {
    const entries = this.rows.ranges(this.next);
    if (this.owed.all.length === 0) return entries;
    const named = new Runs();
    for (const [first, last] of this.owed.all) named.add(first, last);
    for (const [first, last] of runsOf(entries)) named.add(first, last);
    let end = 0;
    return named.all.flatMap(([first, last]) => {
      const gap = first - end;
      end = last + 1;
      return [gap, last - first + 1];
    });
  }
}

/** The runs of numbers that are written as gap, count, gap, count, … from 0. */
export function* runsOf(ranges: readonly number[]): Generator<Run> {
  let end = 0;
  for (let i = 0; i + 1 < ranges.length; i += 2) {
    const first = end + ranges[i]!;
    end = first + ranges[i + 1]!;
    if (end > first) yield [first, end - 1];
  }
}

/** Entries that were removed; no record of that is in the batch yet. */
export interface Removal {
  readonly series: SeriesName;
  readonly number: number;
  /** Numbers from `number` on for the removal record; 0 for a number that stays owed. */
  readonly count: number;
  /** The record of the entry, if there was one. */
  readonly extent: Pick<RecordExtent, 'segment' | 'size'> | undefined;
}

/** A record that was copied to the batch. */
export interface Move {
  readonly series: Series;
  readonly number: number;
  readonly from: RecordExtent;
  readonly to: RecordExtent;
}

/** The part of the journal that the contents use. */
export interface Medium {
  /** The segment that the next group goes to. */
  nextSegment(): Segment;
  /** The record that lies there, head included; undefined when it is damaged. Throws `store.failed`. */
  readRecord(segment: number, offset: number, size: number): Uint8Array | undefined;
}

export class Contents {
  /** Called in this order when a group is about to be written; what they change goes into it. */
  readonly beforeGroup: (() => void)[] = [];
  readonly kinds = new Kinds();
  readonly #medium: Medium;
  readonly #log: Log | undefined;
  readonly #series = new Map<SeriesName, Series>();
  readonly #cursor = new RecordCursor();
  #batch = new RecordBatch();
  #spare: RecordBatch | undefined;
  #segment: Segment | undefined;
  #base = 0;
  #removals: Removal[] = [];

  constructor(medium: Medium, log?: Log) {
    this.#medium = medium;
    this.#log = log;
  }

  /** The series of that name, empty when there was none. */
  series(name: SeriesName): Series {
    let series = this.#series.get(name);
    if (series === undefined) {
      series = new Series(name);
      this.#series.set(name, series);
    }
    return series;
  }

  all(): Iterable<Series> {
    return this.#series.values();
  }

  /**
   * Adds an entry to a series. Throws `input.malformed` for a number that is not free, `message.unbounded` for what
   * is longer than a record may be; nothing has changed then.
   */
  append(series: Series, number: number, record: readonly Item[], traits: Traits): void {
    if (!Number.isSafeInteger(number) || number < 0) {
      throw new VigieError(
        'input.malformed',
        `number ${number} of series ${series.name}: it must be an integer from 0`,
      );
    }
    if (number < series.next) {
      const { name, next } = series;
      throw new VigieError('input.malformed', `number ${number} of series ${name} was used; ${next} is free`);
    }
    const segment = this.placeBatch();
    const offset = this.#base + this.#batch.length;
    const size = this.#batch.add(record);
    series.rows.push(number, { segment: segment.number, offset, size }, traits);
    segment.live += size;
    series.next = number + 1;
  }

  /** Removes the entry of a row. */
  remove(series: Series, row: number): void {
    this.#remove(series, row, 1);
  }

  /** Removes the entry of a row whose number stays owed: no record says that it is gone. */
  giveUp(series: Series, row: number): void {
    series.owed.add(series.rows.number(row));
    this.#remove(series, row, 0);
  }

  /** The numbers from `first` to `last`, which have no entries, are owed no more. */
  clearOwed(series: Series, [first, last]: Run): void {
    series.owed.remove(first, last);
    this.#removals.push({ series: series.name, number: first, count: last - first + 1, extent: undefined });
  }

  #remove(series: Series, row: number, count: number): void {
    const { rows, name } = series;
    series.forget?.(row);
    const extent = { segment: rows.segment(row), size: rows.bytes(row) };
    this.#removals.push({ series: name, number: rows.number(row), count, extent });
    rows.remove(row);
  }

  /**
   * The payload of an entry's record, for a cursor that is used before the next read; undefined when the record is
   * damaged. Throws `store.unreadable` when the disk does not return it.
   */
  read(series: Series, row: number): RecordCursor | undefined {
    const { rows } = series;
    const segment = rows.segment(row);
    const offset = rows.offset(row);
    const size = rows.bytes(row);
    if (segment === this.#segment?.number && offset >= this.#base) {
      const from = offset - this.#base;
      return this.#cursor.reset(this.#batch.bytes, from + headLength, from + size);
    }
    const bytes = this.#medium.readRecord(segment, offset, size);
    return bytes === undefined ? undefined : this.#cursor.reset(bytes, headLength, size);
  }

  /** As {@link read}; undefined also when the disk does not give the record, which was then said in the log. */
  tryRead(series: Series, row: number): RecordCursor | undefined {
    try {
      return this.read(series, row);
    } catch (error) {
      this.logUnreadable(`entry ${series.rows.number(row)} of ${series.name}`, error);
      return undefined;
    }
  }

  /** Logs that the disk did not return a record. */
  logUnreadable(what: string, error: unknown): void {
    this.#log?.error('store.unreadable', { what, error: String(error) });
  }

  // The following is for the journal.

  /** The segment of the batch; undefined while the batch is empty. */
  get segment(): Segment | undefined {
    return this.#segment;
  }

  get batch(): RecordBatch {
    return this.#batch;
  }

  /** Removals without a record in the batch. */
  get removals(): readonly Removal[] {
    return this.#removals;
  }

  takeRemovals(): readonly Removal[] {
    const taken = this.#removals;
    this.#removals = [];
    return taken;
  }

  /** Decides which segment the batch goes to, and from where on, unless that is decided. */
  placeBatch(): Segment {
    if (this.#segment === undefined) {
      this.#segment = this.#medium.nextSegment();
      this.#base = this.#segment.used;
      this.#batch.clear(this.#segment.seed);
    }
    return this.#segment;
  }

  /** The batch is written: the next one begins behind it. Returns it; {@link recycleBatch} takes it back. */
  takeBatch(): RecordBatch {
    const taken = this.#batch;
    this.#batch = this.#spare ?? new RecordBatch();
    this.#spare = undefined;
    this.#segment = undefined;
    return taken;
  }

  recycleBatch(batch: RecordBatch): void {
    this.#spare = batch;
  }

  /** Builds the batch again for the next segment, with its live records only. */
  rebase(): void {
    const source = this.#segment;
    if (source === undefined) return;
    const base = this.#base;
    const batch = this.takeBatch();
    this.relocate(batch.bytes, source, base);
    this.recycleBatch(batch);
  }

  /** The batch is written, and nothing in it can be needed again. */
  dropBatch(): void {
    this.#segment = undefined;
  }

  /** Copies the live records in `bytes` to the batch; they lie in `source` from `base` on. All must be whole. */
  relocate(bytes: Uint8Array, source: Segment, base: number): void {
    let at = 0;
    while (at < bytes.length) {
      this.relocateRecord(bytes, at, source, base + at);
      at += headLength + lengthAt(bytes, at, bytes.length);
    }
  }

  /** Copies the whole record at `at` to the batch if it is live: its row has it at `offset` of `source`. */
  relocateRecord(bytes: Uint8Array, at: number, source: Segment, offset: number, moves?: Move[]): void {
    const payload = at + headLength;
    const end = payload + lengthAt(bytes, at, bytes.length);
    const cursor = this.#cursor.reset(bytes, payload, end);
    cursor.array();
    const type = cursor.count();
    if (type !== messageRecord && type !== collectionRecord && type !== stateRecord) return;
    const name = cursor.atText ? cursor.text() : cursor.count();
    const number = cursor.count();
    const series = name === undefined ? undefined : this.#series.get(name);
    if (series === undefined || number === undefined) return;
    const { rows } = series;
    const row = rows.find(number);
    if (row < 0 || rows.segment(row) !== source.number || rows.offset(row) !== offset) return;
    const segment = this.placeBatch();
    const extent = { segment: segment.number, offset: this.#base + this.#batch.length, size: end - at };
    this.#batch.addEncoded(bytes, payload, end);
    moves?.push({ series, number, from: { segment: source.number, offset, size: extent.size }, to: extent });
    rows.move(row, extent);
    source.live -= extent.size;
    segment.live += extent.size;
  }

  /** Adds the removals to the batch, a record for each run of numbers. */
  encodeRemovals(removals: readonly Removal[]): void {
    if (removals.length === 0) return;
    this.placeBatch();
    const bySeries = new Map<SeriesName, Runs>();
    for (const { series, number, count } of removals) {
      if (count === 0) continue;
      const numbers = bySeries.get(series) ?? new Runs();
      bySeries.set(series, numbers);
      numbers.add(number, number + count - 1);
    }
    for (const [series, numbers] of bySeries) {
      for (const [first, last] of numbers.all) {
        const count = last - first + 1;
        this.#batch.add(count === 1 ? [removalRecord, series, first] : [removalRecord, series, first, count]);
      }
    }
  }

  /** Adds a checkpoint to the batch. The records of all entries must be in the batch or written before. */
  encodeCheckpoint(): void {
    this.placeBatch();
    const listed: Item[] = [];
    for (const series of this.#series.values()) listed.push([series.name, series.next, series.ranges()]);
    this.#batch.add([checkpointRecord, ...listed]);
  }
}
