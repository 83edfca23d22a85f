/** What queries share: rows, the records of cars, and what a row says. */
import type { HubRecord, KnownVehicle } from '../../hub/ports.ts';
import type { Owner } from '../../hub/registry.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { shiftInstants } from '../../protocol/instants.ts';
import { bodies, UNCOUNTED_BOOT } from '../../protocol/schema/message.ts';

export type SqlValue = string | number | Uint8Array | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** Answers one statement with `?` for each value. Numbers are numbers, bytes are `Uint8Array`. */
export type Select = (sql: string, ...values: (string | number)[]) => Promise<readonly SqlRow[]>;

// A subquery instead of a join, so that the order of the index is that of the answer on PostgreSQL too.
export const CAR = '(SELECT id FROM vehicles WHERE vin = ?)';
/** Rows of `records`, or of a part of them that has a name of its own, with their messages. */
export const withMessages = (records: string, part = records): string =>
  `SELECT ${records}.vehicle, ${records}.id, ${records}.at, payload, clock, behind FROM ${part}
  JOIN messages ON messages.id = ${records}.message
  LEFT JOIN corrections ON corrections.vehicle = ${records}.vehicle AND corrections.boot = ${records}.boot`;
export const ONE_CARS = `${withMessages('records')} WHERE records.vehicle = ${CAR} AND collection = ?`;
/** Series are read by car: the condition of the indexes across cars, word by word. */
export const ACROSS_CARS = "collection NOT IN ('telemetry', 'waypoint') AND collection = ?";
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

/** `isAfter` (hub/message.ts) of two tables with the columns `boot` and `seq`, for `WHERE`. */
export function isAfterSql(a: string, b: string): string {
  const [isCounted, isOtherCounted] = [`${a}.boot < ${UNCOUNTED_BOOT}`, `${b}.boot < ${UNCOUNTED_BOOT}`];
  return `CASE WHEN ${isCounted} AND ${isOtherCounted} AND ${a}.boot <> ${b}.boot THEN ${a}.boot > ${b}.boot
    ELSE ${a}.seq > ${b}.seq OR (${a}.seq = ${b}.seq AND ${isCounted} AND NOT ${isOtherCounted}) END`;
}

/** Columns are whole numbers. */
export function wholeNumber(at: number | undefined, otherwise: number): number {
  return at === undefined || !Number.isFinite(at) ? otherwise : Math.ceil(at);
}

export function knownVehicle({ vin, first_seen: firstSeen, last_seen: lastSeen }: SqlRow): KnownVehicle {
  return { vin: vin as string, firstSeen: firstSeen as number, lastSeen: lastSeen as number };
}

export function recordIn({ id, at, payload, clock, behind }: SqlRow): HubRecord {
  const { kind, body } = decodeMessage(payload as Uint8Array);
  const late = clock === 'none' && typeof behind === 'number';
  return {
    id: id as string,
    at: at as number,
    record: late ? shiftInstants(bodies[kind], body, behind) : body,
  };
}
