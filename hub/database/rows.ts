/** Shared parts of queries: rows, records of cars, and contents of rows. */

import { decodeMessage } from '../../protocol/cbor/message.ts';
import { shiftInstants } from '../../protocol/instants.ts';
import { type Kind, kinds } from '../../protocol/schema/kind.ts';
import { bodies, type ClockQuality, clockQualities, type Message } from '../../protocol/schema/message.ts';
import { eventKinds } from '../core/events.ts';
import { isCountedSql, lifeOfSql } from '../core/lives.ts';
import { isSeries } from '../core/message.ts';
import type { HubRecord, KnownVehicle } from '../core/ports.ts';
import type { Owner } from '../core/registry.ts';
import { type KeptStatus, VehicleStatus } from '../core/vehicle-status.ts';

export type SqlValue = string | number | Uint8Array | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** Executes one statement, with `?` for each value. Returns integers as numbers, and bytes as `Uint8Array`. */
export type Select = (sql: string, ...values: (string | number)[]) => Promise<readonly SqlRow[]>;

// A subquery instead of a join, so that PostgreSQL also returns rows in the order of the index.
export const CAR = '(SELECT id FROM vehicles WHERE vin = ?)';
/** Returns the number of the kind in tables: its index in the list of the protocol, which grows only at its end. */
export const kindNumber = (kind: Kind): number => kinds.indexOf(kind);
export const clockNumber = (clock: ClockQuality): number => clockQualities.indexOf(clock);

/** Condition of the indexes for events, records and deliveries. Queries must contain exactly the same SQL. */
export const EVENTS = `kind IN (${eventKinds.map(kindNumber).join(', ')})`;

/** Rows with messages, from `records` or from a named part of it. */
export const withMessages = (records: string, part = records): string =>
  `SELECT ${records}.vehicle, ${records}.id, ${records}.at, payload, behind FROM ${part}
  JOIN messages ON messages.id = ${records}.message AND ${EVENTS}
  LEFT JOIN corrections ON corrections.vehicle = ${records}.vehicle AND corrections.boot = ${records}.boot`;

/** Location of the records of a collection: rows with an id, or the messages themselves. */
export interface RecordTable {
  /** Table for FROM, with the columns of `records`. */
  readonly from: string;
  /** Condition for one car. Its parameters are the VIN and a value for the collection. */
  readonly own: string;
  readonly value: string | number;
  /** Columns that {@link read} needs to find the bytes of a row, in addition to its position. */
  readonly beside: string;
  /** Returns a query for rows with the bytes of records, from the table or from a named part of it. */
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
/** A condition for `WHERE` with its values. */
export interface SqlCondition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Condition for rows with a car that belongs to one of the owners. */
export function ownedBy(owners: readonly Owner[]): SqlCondition {
  const pairs = owners.map(() => '(?, ?)').join(', ');
  return {
    sql: pairs === '' ? 'FALSE' : `vin IN (SELECT vin FROM owned_cars WHERE (kind, owner) IN (VALUES ${pairs}))`,
    values: owners.flatMap(({ kind, id }) => [kind, id]),
  };
}

/** Condition for records of a car that belongs to one of the owners. */
export function carsOf(owners: readonly Owner[]): SqlCondition {
  const { sql, values } = ownedBy(owners);
  return { sql: `records.vehicle IN (SELECT vehicles.id FROM vehicles WHERE ${sql})`, values };
}

/** `isAfter` (hub/core/message.ts) without offsets in SQL, for two tables with the columns `boot` and `seq`. */
export function isAfterSql(a: string, b: string): string {
  const [isCounted, isOtherCounted] = [isCountedSql(`${a}.boot`), isCountedSql(`${b}.boot`)];
  return `CASE WHEN ${lifeOfSql(`${a}.boot`)} <> ${lifeOfSql(`${b}.boot`)} THEN ${a}.boot > ${b}.boot
    WHEN ${isCounted} AND ${isOtherCounted} AND ${a}.boot <> ${b}.boot THEN ${a}.boot > ${b}.boot
    ELSE ${a}.seq > ${b}.seq OR (${a}.seq = ${b}.seq AND ${isCounted} AND NOT (${isOtherCounted})) END`;
}

/** Rounds up to an integer, because columns are integers. */
export function wholeNumber(at: number | undefined, otherwise: number): number {
  return at === undefined || !Number.isFinite(at) ? otherwise : Math.ceil(at);
}

export function knownVehicle({ vin, first_seen: firstSeen, last_seen: lastSeen }: SqlRow): KnownVehicle {
  return { vin: vin as string, firstSeen: firstSeen as number, lastSeen: lastSeen as number };
}

/** Returns by how many ms the times of a message are behind. `behind`: correction of its start, if the car sent one. */
export function latenessIn({ clock }: Pick<Message, 'clock'>, behind: SqlValue | undefined): number {
  return clock === 'none' && typeof behind === 'number' ? behind : 0;
}

export function recordIn({ id, at, payload, behind }: SqlRow): HubRecord {
  const message = decodeMessage(payload as Uint8Array);
  const { kind, body } = message;
  const late = latenessIn(message, behind);
  return { id: id as string, at: at as number, record: late === 0 ? body : shiftInstants(bodies[kind], body, late) };
}

/** Reads the Status from a row. Returns an empty Status if there is no row. */
export function statusIn({ document }: SqlRow): VehicleStatus {
  return new VehicleStatus(typeof document === 'string' ? (JSON.parse(document) as KeptStatus) : undefined);
}
