/** Rebuilds the contents from the records of all segments, in the order in which they were written. */
import { Runs } from '../../protocol/runs.ts';
import { type Contents, runsOf, type Series } from './contents.ts';
import { crc32c } from './crc32c.ts';
import { RecordCursor } from './cursor.ts';
import { messageTraits } from './message-record.ts';
import {
  checkpointRecord,
  collectionRecord,
  markRecord,
  messageRecord,
  paddingRecord,
  removalRecord,
  type SeriesName,
  stateRecord,
  stateSeries,
  wearRecord,
} from './record-types.ts';
import type { RecordExtent, Traits } from './rows.ts';

/** Result of reading a record. */
type Reading = 'known' | 'unknown' | 'malformed';

interface CheckpointSeries {
  readonly series: SeriesName;
  readonly next: number;
  readonly ranges: readonly number[];
}

/** Size in bytes of the shortest record of a message, head included. */
const MIN_MESSAGE_BYTES = 16;

export class Replay {
  /** Bytes written to the medium on one day, from the last wear record. */
  wear: { readonly day: number; readonly bytes: number } = { day: 0, bytes: 0 };
  readonly #contents: Contents;
  readonly #cursor = new RecordCursor();
  /** By series, the first number and the count of removed entries. */
  readonly #removals = new Map<Series, number[]>();
  #checkpoint: readonly CheckpointSeries[] | undefined;
  /** Number of bytes of missing records since the last checkpoint. */
  #missing = 0;
  /** Series that have an entry after the last missing records. */
  readonly #seenSinceLoss = new Set<Series>();

  constructor(contents: Contents) {
    this.#contents = contents;
  }

  /** True if records are missing and no later checkpoint includes their changes. */
  get doubtful(): boolean {
    return this.#missing > 0;
  }

  /** Call at a point where `bytes` bytes of records are missing. */
  addMissing(bytes: number): void {
    this.#missing += bytes;
    this.#seenSinceLoss.clear();
  }

  /** Applies the record whose payload is `bytes[from..to)`; `extent` includes the record's head. */
  apply(bytes: Uint8Array, from: number, to: number, extent: RecordExtent): Reading {
    const cursor = this.#cursor.reset(bytes, from, to);
    const items = cursor.array();
    const type = items === undefined ? undefined : cursor.count();
    if (items === undefined || type === undefined) return 'malformed';
    switch (type) {
      case messageRecord:
      case collectionRecord:
      case stateRecord:
        return this.#entry(type, cursor, items, extent);
      case removalRecord:
        return this.#removal(cursor, items);
      case checkpointRecord:
        return this.#readCheckpoint(cursor, items - 1);
      case wearRecord: {
        const day = cursor.count();
        const written = cursor.count();
        if (day === undefined || written === undefined) return 'malformed';
        this.wear = { day, bytes: written };
        return 'known';
      }
      default:
        return type === paddingRecord || type === markRecord ? 'known' : 'unknown';
    }
  }

  /**
   * Call after the last record. Drops removed entries and entries that the newest checkpoint does not list. Returns, by
   * series, how many entries should exist but were not found; in classes, their numbers become owed. `classes` comes
   * from the manifest: no number below `low` is owed, and none from `end` on was assigned.
   */
  finish(classes: readonly (readonly [name: number, low: number, end: number])[]): ReadonlyMap<Series, number> {
    for (const [name] of classes) this.#contents.series(name);
    for (const series of this.#contents.all()) {
      if (typeof series.name !== 'number' || this.#seenSinceLoss.has(series)) continue;
      // The last assigned number may be in a missing record.
      const most = series.next + Math.floor(this.#missing / MIN_MESSAGE_BYTES);
      const end = Math.min(most, classes.find(([name]) => name === series.name)?.[2] ?? Number.POSITIVE_INFINITY);
      if (end > series.next && Number.isFinite(end)) series.next = end;
    }
    for (const { rows } of this.#contents.all()) rows.sort();
    for (const [{ rows }, ranges] of this.#removals) {
      for (let i = 0; i < ranges.length; i += 2) {
        const end = ranges[i]! + ranges[i + 1]!;
        for (let row = rows.next(ranges[i]!); row >= 0 && rows.number(row) < end; row = rows.next(ranges[i]!)) {
          rows.remove(row);
        }
      }
    }
    for (const { series, next, ranges } of this.#checkpoint ?? []) {
      const { rows } = this.#contents.series(series);
      let end = 0;
      for (let i = 0; i <= ranges.length; i += 2) {
        // The gap before this range, or after the last range.
        const gapEnd = i < ranges.length ? Math.min(next, end + ranges[i]!) : next;
        for (let row = rows.next(end); row >= 0 && rows.number(row) < gapEnd; row = rows.next(end)) rows.remove(row);
        end = gapEnd + (ranges[i + 1] ?? 0);
      }
    }
    const lost = new Map<Series, number>();
    for (const series of this.#contents.all()) {
      const low = classes.find(([name]) => name === series.name)?.[1];
      const missing = this.#notFound(series, low);
      if (missing.all.length === 0) continue;
      lost.set(series, missing.size);
      if (typeof series.name === 'number') for (const [first, last] of missing.all) series.owed.add(first, last);
    }
    return lost;
  }

  /** Returns the numbers that were assigned and not removed but have no entry. */
  #notFound(series: Series, low: number | undefined): Runs {
    const { name, next, rows } = series;
    const removed = this.#removals.get(series) ?? [];
    const missing = new Runs();
    const listed = this.#checkpoint?.find((one) => one.series === name);
    for (const [first, last] of runsOf(listed?.ranges ?? [])) missing.add(first, last);
    // Without a checkpoint, it is unknown what became of the numbers before the first one found.
    const known = this.#checkpoint === undefined ? (low ?? this.#firstFound(series, removed)) : (listed?.next ?? 0);
    if (known < next) missing.add(known, next - 1);
    const gone = new Runs();
    for (let i = 0; i < removed.length; i += 2) gone.add(removed[i]!, removed[i]! + removed[i + 1]! - 1);
    for (const [first, last] of runsOf(rows.ranges(next))) gone.add(first, last);
    if (low !== undefined && low > 0) gone.add(0, low - 1);
    for (const [first, last] of gone.all) missing.remove(first, last);
    return missing;
  }

  #firstFound({ rows }: Series, removed: readonly number[]): number {
    const row = rows.next(0);
    let first = row < 0 ? Number.POSITIVE_INFINITY : rows.number(row);
    for (let i = 0; i < removed.length; i += 2) first = Math.min(first, removed[i]!);
    return first;
  }

  #entry(type: number, cursor: RecordCursor, items: number, extent: RecordExtent): Reading {
    const name = type === messageRecord ? cursor.count() : cursor.text();
    const number = cursor.count();
    if (name === undefined || number === undefined || (type === stateRecord) !== (name === stateSeries)) {
      return 'malformed';
    }
    let traits: Traits | undefined;
    if (type === messageRecord) traits = messageTraits(cursor, items, this.#contents.kinds);
    else if (type === collectionRecord) traits = recordTraits(cursor);
    else if (cursor.utf8() !== undefined && cursor.bytes() !== undefined) traits = { at: 0, a: 0, b: 0 };
    if (traits === undefined) return 'malformed';
    const series = this.#contents.series(name);
    series.rows.push(number, extent, traits);
    // Numbers are assigned in order, so a higher number is new.
    if (number >= series.next) this.#seenSinceLoss.add(series);
    series.next = Math.max(series.next, number + 1);
    return 'known';
  }

  #removal(cursor: RecordCursor, items: number): Reading {
    const name = cursor.atText ? cursor.text() : cursor.count();
    const number = cursor.count();
    const count = items > 3 ? cursor.count() : 1;
    if (name === undefined || number === undefined || count === undefined) return 'malformed';
    if (!Number.isSafeInteger(number + count)) return 'malformed';
    const series = this.#contents.series(name);
    const ranges = this.#removals.get(series);
    if (ranges === undefined) this.#removals.set(series, [number, count]);
    else ranges.push(number, count);
    series.next = Math.max(series.next, number + count);
    return 'known';
  }

  #readCheckpoint(cursor: RecordCursor, count: number): Reading {
    const listed: CheckpointSeries[] = [];
    for (let i = 0; i < count; i++) {
      if (cursor.array() !== 3) return 'malformed';
      const series = cursor.atText ? cursor.text() : cursor.count();
      const next = cursor.count();
      const length = cursor.array();
      if (series === undefined || next === undefined || length === undefined || length % 2 !== 0) return 'malformed';
      const ranges: number[] = [];
      for (let k = 0; k < length; k++) {
        const value = cursor.count();
        if (value === undefined) return 'malformed';
        ranges.push(value);
      }
      listed.push({ series, next, ranges });
    }
    this.#checkpoint = listed;
    this.#missing = 0;
    for (const { series: name, next } of listed) {
      const series = this.#contents.series(name);
      series.next = Math.max(series.next, next);
    }
    return 'known';
  }
}

/** Reads the items that follow the number in a collection's record. */
function recordTraits(cursor: RecordCursor): Traits | undefined {
  const at = cursor.number();
  const id = cursor.utf8();
  if (at === undefined || !Number.isFinite(at) || id === undefined || cursor.bytes() === undefined) return undefined;
  return { at, a: crc32c(id), b: 0 };
}
