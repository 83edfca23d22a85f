/** A collection of records in the journal. Its index is in memory; the contents of records are read on demand. */

import type { NumberedRecord, StoredRecord } from '../../agent/ports.ts';
import { EARLIEST_TIME } from '../../protocol/calendar.ts';
import { VigieError } from '../../protocol/errors.ts';
import { Runs } from '../../protocol/runs.ts';
import type { Contents, Series } from './contents.ts';
import { crc32c } from './crc32c.ts';
import type { RecordCursor } from './cursor.ts';
import { HashTable } from './hash-table.ts';
import { collectionRecord } from './record-types.ts';
import { horizon, type RecordRule } from './retention.ts';
import { TimeOrder } from './time-order.ts';
import { decodeValue, encodeValue, sameBytes } from './values.ts';

/** Maximum number of records dropped per commit, so that a new rule does not block the event loop. */
const mostRetired = 4096;
/** Maximum length of an id in UTF-8 bytes. */
const longestId = 1024;

interface Read {
  readonly id: string;
  readonly value: Uint8Array;
}

export class Collection {
  readonly name: string;
  readonly rule: RecordRule;
  readonly #contents: Contents;
  readonly #series: Series;
  readonly #order = new TimeOrder();
  readonly #ids = new HashTable();
  /** Numbers that retention has deleted, as far as they are above the first that existed at the start. */
  readonly #expired = new Runs();
  #bytes = 0;
  /** Number after the last record that is certainly on the disk. */
  end: number;

  /** Builds the collection from the journal's contents. */
  constructor(name: string, rule: RecordRule, contents: Contents) {
    this.name = name;
    this.rule = rule;
    this.#contents = contents;
    this.#series = contents.series(name);
    const { rows } = this.#series;
    const numbers: number[] = [];
    for (let row = rows.next(0); row >= 0; row = rows.next(rows.number(row) + 1)) {
      numbers.push(rows.number(row));
      this.#index(row);
    }
    this.#series.forget = (row) => this.#unindex(row);
    for (const number of numbers) this.#dropOlderTwins(number);
    this.end = this.#series.next;
    const first = numbers[0] ?? this.#series.next;
    if (first > 0) this.#expired.add(0, first - 1);
  }

  /** Next free number. */
  get next(): number {
    return this.#series.next;
  }

  /** Size of the records on disk in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the record or replaces the one with the same id. Throws `input.malformed` and `message.unbounded`. */
  put({ id, at, record }: StoredRecord): void {
    const what = `record ${id} of ${this.name}`;
    if (!Number.isFinite(at)) throw new VigieError('input.malformed', `${what}: ${at} is not a time`);
    const key = new TextEncoder().encode(id);
    if (key.length > longestId) throw new VigieError('message.unbounded', `an id of ${key.length} bytes`);
    const value = encodeValue(record, what);
    const { rows, next } = this.#series;
    const hash = crc32c(key);
    const before = this.#find(id, hash);
    if (before >= 0 && rows.at(before) === at && this.#holds(before, value)) return;
    const replaced = before < 0 ? undefined : rows.number(before);
    this.#contents.append(this.#series, next, [collectionRecord, this.name, next, at, id, value], {
      at,
      a: hash,
      b: 0,
    });
    this.#index(rows.find(next));
    if (replaced !== undefined) this.#remove(replaced);
  }

  get(id: string): StoredRecord | undefined {
    const row = this.#find(id, crc32c(new TextEncoder().encode(id)));
    return row < 0 ? undefined : this.#record(row);
  }

  /** Yields records with `from` ≤ at < `to`, ordered by time, then by id. Concurrent changes may or may not appear. */
  *list(from: number, to: number): Generator<StoredRecord, void, undefined> {
    const { rows } = this.#series;
    const numbers = this.#order.between(from, to);
    for (let i = 0; i < numbers.length; ) {
      const same: StoredRecord[] = [];
      let row = rows.find(numbers[i]!);
      const at = row < 0 ? Number.NaN : rows.at(row);
      do {
        const record = row < 0 ? undefined : this.#record(row);
        if (record !== undefined) same.push(record);
        row = ++i < numbers.length ? rows.find(numbers[i]!) : -1;
      } while (row >= 0 && rows.at(row) === at);
      yield* same.sort((a, b) => (a.id < b.id ? -1 : 1));
    }
  }

  /** Yields the records on the disk from number `from` on. Throws `store.failed` if the disk fails to return one. */
  *numbered(from: number): Generator<NumberedRecord, void, undefined> {
    const { rows } = this.#series;
    for (let number = from; ; number++) {
      const row = rows.next(number);
      if (row < 0) return;
      number = rows.number(row);
      if (number >= this.end) return;
      const cursor = this.#contents.read(this.#series, row);
      yield { number, stored: this.#stored(rows.at(row), cursor && readRecord(cursor)) };
    }
  }

  /** Returns how many numbers from `from` and below `to` retention has deleted. */
  expired(from: number, to: number): number {
    return this.#expired.all.reduce(
      (sum, [first, last]) => sum + Math.max(0, Math.min(last + 1, to) - Math.max(first, from)),
      0,
    );
  }

  /** Drops records beyond the age or size limit, at most a few thousand per call. Returns how many it dropped. */
  retire(now: number | undefined, bytes: number = this.rule.bytes): number {
    const before = horizon(this.rule, now);
    let retired = 0;
    for (; retired < mostRetired; retired++) {
      const old = this.#order.first(EARLIEST_TIME);
      const oldest =
        this.#bytes > bytes
          ? this.#order.first(Number.NEGATIVE_INFINITY)
          : old !== undefined && old.at < before
            ? old
            : undefined;
      if (oldest === undefined) break;
      this.#expired.add(oldest.number);
      this.#remove(oldest.number);
    }
    return retired;
  }

  #index(row: number): void {
    const { rows } = this.#series;
    this.#order.add(rows.number(row), rows.at(row));
    this.#ids.add(rows.a(row), rows.number(row));
    this.#bytes += rows.bytes(row);
  }

  #unindex(row: number): void {
    const { rows } = this.#series;
    this.#order.remove(rows.number(row), rows.at(row));
    this.#ids.remove(rows.a(row), rows.number(row));
    this.#bytes -= rows.bytes(row);
  }

  #remove(number: number): void {
    const row = this.#series.rows.find(number);
    if (row >= 0) this.#contents.remove(this.#series, row);
  }

  /** Damage can leave both a record and its replacement: keeps only the one with the higher number. */
  #dropOlderTwins(number: number): void {
    const { rows } = this.#series;
    const row = rows.find(number);
    if (row < 0) return;
    const older = this.#ids.numbers(rows.a(row)).filter((other) => other < number);
    if (older.length === 0) return;
    const id = this.#read(row)?.id;
    for (const other of older) if (id !== undefined && this.#read(rows.find(other))?.id === id) this.#remove(other);
  }

  #find(id: string, hash: number): number {
    const { rows } = this.#series;
    for (const number of this.#ids.numbers(hash)) {
      const row = rows.find(number);
      if (row >= 0 && this.#read(row)?.id === id) return row;
    }
    return -1;
  }

  #holds(row: number, value: Uint8Array): boolean {
    const read = this.#read(row);
    return read !== undefined && sameBytes(read.value, value);
  }

  #record(row: number): StoredRecord | undefined {
    return this.#stored(this.#series.rows.at(row), this.#read(row));
  }

  #stored(at: number, read: Read | undefined): StoredRecord | undefined {
    if (read === undefined) return undefined;
    try {
      return { id: read.id, at, record: decodeValue(read.value) };
    } catch (error) {
      this.#contents.logUnreadable(`record ${read.id} of ${this.name}`, error);
      return undefined;
    }
  }

  /** Returns the content of the record, valid until the next read; undefined if it is damaged or the disk fails. */
  #read(row: number): Read | undefined {
    const cursor = this.#contents.tryRead(this.#series, row);
    return cursor && readRecord(cursor);
  }
}

function readRecord(cursor: RecordCursor): Read | undefined {
  cursor.array();
  cursor.count();
  cursor.text();
  cursor.count();
  cursor.number();
  const id = cursor.text();
  const value = cursor.bytes();
  return id === undefined || value === undefined ? undefined : { id, value };
}
