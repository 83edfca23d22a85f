/** Record form of an outbox message: the items `kind, at, retain, payload, correlation?`. */
import type { OutboxEntry, OutboxReference } from '../../agent/ports.ts';
import type { Item } from './batch.ts';
import type { RecordCursor } from './cursor.ts';
import { messageRecord } from './record-types.ts';
import type { Rows, Traits } from './rows.ts';

/** Bytes that a message needs besides payload and correlation data: frame, numbers, kind and time in the journal. */
const overhead = 32;

/** Returns the size in bytes that a message counts as in `OutboxStore.bytes`; the same in every store. */
export function entryBytes(payload: number, correlation: number): number {
  return overhead + payload + correlation;
}

/** Binary data of MQTT 5 has a length of 16 bits (§1.5.6). */
export const longestCorrelation = 0xffff;

/**
 * Numbers the kinds, so that a kind fits into a row. The protocol has about a dozen kinds; a full table can only be due
 * to corrupt data.
 */
export class Kinds {
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();

  /** Returns the number of a kind, or undefined if the table is full. */
  number(kind: string): number | undefined {
    let number = this.#numbers.get(kind);
    if (number === undefined && this.#names.length < mostKinds) {
      number = this.#names.push(kind) - 1;
      this.#numbers.set(kind, number);
    }
    return number;
  }

  name(number: number): string {
    return this.#names[number]!;
  }
}

const mostKinds = 1 << 15;

/** In a row, `a` is the payload length; `b` is the kind (15 bits), retain (1) and the correlation data length (16). */
function traitsOf(
  kinds: Kinds,
  kind: string,
  at: number,
  retain: boolean,
  payload: number,
  correlation: number,
): Traits | undefined {
  const number = kinds.number(kind);
  if (number === undefined || correlation > longestCorrelation) return undefined;
  return { at, a: payload, b: ((number << 17) | (Number(retain) << 16) | correlation) >>> 0 };
}

export function entryTraits(entry: OutboxEntry, kinds: Kinds): Traits | undefined {
  const { kind, at, retain, payload, correlation } = entry;
  return traitsOf(kinds, kind, at, retain, payload.length, correlation?.length ?? 0);
}

export function entryRecord({ class: priority, seq, kind, at, retain, payload, correlation }: OutboxEntry): Item[] {
  const record: Item[] = [messageRecord, priority, seq, kind, at, retain, payload];
  if (correlation !== undefined) record.push(correlation);
  return record;
}

/** Returns the size in bytes that the message in this row counts as in `OutboxStore.bytes`. */
export function rowBytes(rows: Rows, row: number): number {
  return entryBytes(rows.a(row), rows.b(row) & longestCorrelation);
}

export function referenceOf(priorityClass: number, rows: Rows, row: number, kinds: Kinds): OutboxReference {
  const b = rows.b(row);
  return {
    class: priorityClass,
    seq: rows.number(row),
    kind: kinds.name(b >>> 17),
    at: rows.at(row),
    retain: (b & (1 << 16)) !== 0,
    bytes: rows.a(row),
  };
}

/** Reads the items that follow the number in a message's record. Returns undefined for other records. */
export function messageTraits(cursor: RecordCursor, items: number, kinds: Kinds): Traits | undefined {
  const kind = cursor.text();
  const at = cursor.number();
  const retain = cursor.boolean();
  const payload = cursor.bytes();
  if (kind === undefined || at === undefined || retain === undefined || payload === undefined) return undefined;
  if (items < 8 || cursor.nothing()) return traitsOf(kinds, kind, at, retain, payload.length, 0);
  const correlation = cursor.bytes();
  return correlation && traitsOf(kinds, kind, at, retain, payload.length, correlation.length);
}

/** Decodes the message in a record's payload. */
export function readEntry(cursor: RecordCursor): OutboxEntry | undefined {
  const items = cursor.array() ?? 0;
  cursor.count();
  const priority = cursor.count();
  const seq = cursor.count();
  const kind = cursor.text();
  const at = cursor.number();
  const retain = cursor.boolean();
  const payload = cursor.bytes()?.slice();
  if (priority === undefined || seq === undefined || kind === undefined) return undefined;
  if (at === undefined || retain === undefined || payload === undefined) return undefined;
  const entry = { class: priority, seq, kind, at, retain, payload };
  if (items < 8 || cursor.nothing()) return entry;
  const correlation = cursor.bytes()?.slice();
  return correlation === undefined ? undefined : { ...entry, correlation };
}
