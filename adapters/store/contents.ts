/**
 * The data that the journal persists: series of numbered entries. An entry has a row in memory and a record on the
 * disk. A change is applied to the rows immediately, and its record is added to the batch. The next group appends the
 * bytes of the batch to the segment.
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
  /** Next free number of the series. */
  next = 0;
  /** Numbers of entries that were abandoned or lost and have not been reported to a receiver yet. */
  readonly owed = new Runs();
  /** Called for each entry before its removal. */
  forget: ((row: number) => void) | undefined;

  constructor(name: SeriesName) {
    this.name = name;
  }

  /** Returns the numbers that a checkpoint lists as ranges: those of entries and the owed numbers. */
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

/** Decodes ranges of numbers from the form gap, count, gap, count, … from 0. */
export function* runsOf(ranges: readonly number[]): Generator<Run> {
  let end = 0;
  for (let i = 0; i + 1 < ranges.length; i += 2) {
    const first = end + ranges[i]!;
    end = first + ranges[i + 1]!;
    if (end > first) yield [first, end - 1];
  }
}

/** Entries that were removed but have no removal record in the batch yet. */
export interface Removal {
  readonly series: SeriesName;
  readonly number: number;
  /** Number of removed entries from `number` on; 0 if `number` stays owed. */
  readonly count: number;
  /** Extent of the entry's record, if the entry had a record. */
  readonly extent: Pick<RecordExtent, 'segment' | 'size'> | undefined;
}

/** A record that compaction copied to the batch. */
export interface Move {
  readonly series: Series;
  readonly number: number;
  readonly from: RecordExtent;
  readonly to: RecordExtent;
}

/** The part of the journal that {@link Contents} uses. */
export interface Medium {
  /** Returns the segment for the next group. */
  nextSegment(): Segment;
  /** Returns the record at this position, head included; undefined if it is damaged. Throws `store.failed`. */
  readRecord(segment: number, offset: number, size: number): Uint8Array | undefined;
}

export class Contents {
  /** Functions to call in this order before a group is written; the group includes the changes that they make. */
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

  /** Returns the series with this name; creates it if it does not exist. */
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
   * Adds an entry to a series. Throws `input.malformed` if the number is not free and `message.unbounded` if the record
   * is too long; then nothing has changed.
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

  /** Removes the entry in this row. */
  remove(series: Series, row: number): void {
    this.#remove(series, row, 1);
  }

  /** Removes the entry in this row but keeps its number owed, so no removal record is written. */
  giveUp(series: Series, row: number): void {
    series.owed.add(series.rows.number(row));
    this.#remove(series, row, 0);
  }

  /** Clears the owed numbers from `first` to `last`. They must have no entries. */
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
   * Returns a cursor at the payload of an entry's record, valid until the next read, or undefined if the record is
   * damaged. Throws `store.unreadable` if the disk fails to return the record.
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

  /** Like {@link read}, but if the disk fails, logs the error and returns undefined. */
  tryRead(series: Series, row: number): RecordCursor | undefined {
    try {
      return this.read(series, row);
    } catch (error) {
      this.logUnreadable(`entry ${series.rows.number(row)} of ${series.name}`, error);
      return undefined;
    }
  }

  /** Logs that the disk failed to return a record. */
  logUnreadable(what: string, error: unknown): void {
    this.#log?.error('store.unreadable', { what, error: String(error) });
  }

  // For the journal only:

  /** The segment that the batch will be written to; undefined while the batch is empty. */
  get segment(): Segment | undefined {
    return this.#segment;
  }

  get batch(): RecordBatch {
    return this.#batch;
  }

  /** Removals that have no record in the batch yet. */
  get removals(): readonly Removal[] {
    return this.#removals;
  }

  takeRemovals(): readonly Removal[] {
    const taken = this.#removals;
    this.#removals = [];
    return taken;
  }

  /** Chooses the segment and offset at which the batch will be written, unless they are chosen already. */
  placeBatch(): Segment {
    if (this.#segment === undefined) {
      this.#segment = this.#medium.nextSegment();
      this.#base = this.#segment.used;
      this.#batch.clear(this.#segment.seed);
    }
    return this.#segment;
  }

  /** Returns the written batch and starts a new one that follows it. Return it with {@link recycleBatch} for reuse. */
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

  /** Rebuilds the batch for the next segment, with only its live records. */
  rebase(): void {
    const source = this.#segment;
    if (source === undefined) return;
    const base = this.#base;
    const batch = this.takeBatch();
    this.relocate(batch.bytes, source, base);
    this.recycleBatch(batch);
  }

  /** Empties a written batch whose records will never be needed again. */
  dropBatch(): void {
    this.#segment = undefined;
  }

  /** Copies the live records in `bytes` to the batch. `bytes` begin at `base` in `source` and hold whole records. */
  relocate(bytes: Uint8Array, source: Segment, base: number): void {
    let at = 0;
    while (at < bytes.length) {
      this.relocateRecord(bytes, at, source, base + at);
      at += headLength + lengthAt(bytes, at, bytes.length);
    }
  }

  /** Copies the whole record at `at` to the batch if it is live, i.e. if its row points to `offset` in `source`. */
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

  /** Adds removal records to the batch, one for each run of consecutive numbers. */
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

  /** Adds a checkpoint to the batch. All entries must already have their records in the batch or on the disk. */
  encodeCheckpoint(): void {
    this.placeBatch();
    const listed: Item[] = [];
    for (const series of this.#series.values()) listed.push([series.name, series.next, series.ranges()]);
    this.#batch.add([checkpointRecord, ...listed]);
  }
}
