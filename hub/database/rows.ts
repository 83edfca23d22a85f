/** Common part of queries: rows, the records of cars, and the content of a row. */

import { decodeMessage } from '../../protocol/cbor/message.ts';
import { shiftInstants } from '../../protocol/instants.ts';
import { type Kind, kinds } from '../../protocol/schema/kind.ts';
import { bodies, type ClockQuality, clockQualities, type Message } from '../../protocol/schema/message.ts';
import { eventKinds } from '../core/events.ts';
import { isCountedSql, lifeOfSql } from '../core/lives.ts';
import { isSeries } from '../core/message.ts';
import type { HubRecord, KnownVehicle } from '../core/ports.ts';
import type { Owner } from '../core/registry.ts';

export type SqlValue = string | number | Uint8Array | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** Answers one statement with `?` for each value. Numbers are numbers, bytes are `Uint8Array`. */
export type Select = (sql: string, ...values: (string | number)[]) => Promise<readonly SqlRow[]>;

// A subquery instead of a join, so that the order of the index is that of the answer on PostgreSQL too.
export const CAR = '(SELECT id FROM vehicles WHERE vin = ?)';
/** As tables have it: the place in the list of the protocol, which only grows at its end. */
export const kindNumber = (kind: Kind): number => kinds.indexOf(kind);
export const clockNumber = (clock: ClockQuality): number => clockQualities.indexOf(clock);

/** The condition of the indexes of messages that events, records and deliveries name, word by word. */
export const EVENTS = `kind IN (${eventKinds.map(kindNumber).join(', ')})`;

/** Rows of `records`, or of a part of them that has a name of its own, with their messages. */
export const withMessages = (records: string, part = records): string =>
  `SELECT ${records}.vehicle, ${records}.id, ${records}.at, payload, behind FROM ${part}
  JOIN messages ON messages.id = ${records}.message AND ${EVENTS}
  LEFT JOIN corrections ON corrections.vehicle = ${records}.vehicle AND corrections.boot = ${records}.boot`;

/** Where the records of a collection are: rows with an id, or the messages themselves. */
export interface RecordTable {
  /** For FROM: columns are those of `records`. */
  readonly from: string;
  /** For one car: a value for the collection, in addition to its VIN. */
  readonly own: string;
  readonly value: string | number;
  /** Columns that {@link read} needs to find the bytes of a row, in addition to its place. */
  readonly beside: string;
  /** Rows with the bytes of records, of the table or of a part of it that has a name of its own. */
  read(name?: string, part?: string): string;
}

export function tableOf(collection: string): RecordTable {
  if (isSeries(collection)) {
    return {
      from: 'series AS records',
      own: `records.vehicle = ${CAR} AND kind = ?`,
      value: kindNumber(collection),
      beside: 'payload',
      read: (name = 'records', part = 'series AS records') =>
        `SELECT ${name}.vehicle, ${name}.id, ${name}.at, payload, behind FROM ${part}
  LEFT JOIN corrections ON corrections.vehicle = ${name}.vehicle AND corrections.boot = ${name}.boot`,
    };
  }
  return {
    from: 'records',
    own: `records.vehicle = ${CAR} AND collection = ?`,
    value: collection,
    beside: 'message',
    read: (name = 'records', part = 'records') => withMessages(name, part),
  };
}

export const ACROSS_CARS = 'collection = ?';
/** A condition with its values, for `WHERE`. */
export interface SqlCondition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** That the car of a row belongs to one of the owners. */
export function ownedBy(owners: readonly Owner[]): SqlCondition {
  const pairs = owners.map(() => '(?, ?)').join(', ');
  return {
    sql: pairs === '' ? 'FALSE' : `vin IN (SELECT vin FROM owned_cars WHERE (kind, owner) IN (VALUES ${pairs}))`,
    values: owners.flatMap(({ kind, id }) => [kind, id]),
  };
}

/** That a record is of a car that belongs to one of the owners. */
export function carsOf(owners: readonly Owner[]): SqlCondition {
  const { sql, values } = ownedBy(owners);
  return { sql: `records.vehicle IN (SELECT vehicles.id FROM vehicles WHERE ${sql})`, values };
}

/** `isAfter` (hub/core/message.ts) of two tables with the columns `boot` and `seq`, for `WHERE`. */
export function isAfterSql(a: string, b: string): string {
  const [isCounted, isOtherCounted] = [isCountedSql(`${a}.boot`), isCountedSql(`${b}.boot`)];
  return `CASE WHEN ${lifeOfSql(`${a}.boot`)} <> ${lifeOfSql(`${b}.boot`)} THEN ${a}.boot > ${b}.boot
    WHEN ${isCounted} AND ${isOtherCounted} AND ${a}.boot <> ${b}.boot THEN ${a}.boot > ${b}.boot
    ELSE ${a}.seq > ${b}.seq OR (${a}.seq = ${b}.seq AND ${isCounted} AND NOT (${isOtherCounted})) END`;
}

/** Columns are whole numbers. */
export function wholeNumber(at: number | undefined, otherwise: number): number {
  return at === undefined || !Number.isFinite(at) ? otherwise : Math.ceil(at);
}

export function knownVehicle({ vin, first_seen: firstSeen, last_seen: lastSeen }: SqlRow): KnownVehicle {
  return { vin: vin as string, firstSeen: firstSeen as number, lastSeen: lastSeen as number };
}

/** How far the times of a message are behind, ms: `behind` is the correction of its start, if the car sent one. */
export function latenessIn({ clock }: Pick<Message, 'clock'>, behind: SqlValue | undefined): number {
  return clock === 'none' && typeof behind === 'number' ? behind : 0;
}

export function recordIn({ id, at, payload, behind }: SqlRow): HubRecord {
  const message = decodeMessage(payload as Uint8Array);
  const { kind, body } = message;
  const late = latenessIn(message, behind);
  return { id: id as string, at: at as number, record: late === 0 ? body : shiftInstants(bodies[kind], body, late) };
}
