/** Reads of many vehicles and records in one statement, in the SQL that SQLite and PostgreSQL share. */

import { classOf } from '../../protocol/classes.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import { pieceOf } from '../core/message.ts';
import type { HubRecord, VehicleWithStatus } from '../core/ports.ts';
import { padded } from './batches.ts';
import { kindNumber, knownVehicle, recordIn, type Select, type SqlRow, statusIn, withMessages } from './rows.ts';

export const VIEWS = `SELECT vin, first_seen, last_seen, document FROM vehicles
  LEFT JOIN status ON status.vehicle = vehicles.id`;

/** Identifies a record. `id` is empty for the newest one of a collection. */
export interface RecordName {
  readonly vin: string;
  readonly collection: string;
  readonly id: string;
}

export function recordNameText({ vin, collection, id }: RecordName): string {
  return [vin, collection, id].join('\n');
}

type Values = (string | number)[];

export async function readViews(
  select: Select,
  vins: readonly string[],
): Promise<ReadonlyMap<string, VehicleWithStatus>> {
  const given = padded(vins);
  const rows = await select(`${VIEWS} WHERE vin IN (${given.map(() => '?').join(', ')})`, ...given);
  return new Map(rows.map((row) => [row['vin'] as string, viewIn(row)]));
}

export function viewIn(row: SqlRow): VehicleWithStatus {
  return { ...knownVehicle(row), status: statusIn(row) };
}

export async function readRecords(
  select: Select,
  names: readonly RecordName[],
): Promise<ReadonlyMap<string, HubRecord>> {
  const given = padded(names);
  const rows = await select(
    `WITH given (vin, collection, id) AS (VALUES ${given.map(() => '(?, ?, ?)').join(', ')})
     ${recordsJoinedTo('given', 'records.collection = given.collection AND records.id = given.id')}`,
    ...given.flatMap(({ vin, collection, id }): Values => [vin, collection, id]),
  );
  return byName(rows);
}

/** The newest record of each collection. */
export async function readNewest(
  select: Select,
  names: readonly RecordName[],
): Promise<ReadonlyMap<string, HubRecord>> {
  const given = padded(names);
  const rows = await select(
    `WITH given (vin, collection) AS (VALUES ${given.map(() => '(?, ?)').join(', ')})
     ${recordsJoinedTo('given', `records.collection = given.collection AND records.id = ${NEWEST_ID}`)}`,
    ...given.flatMap(({ vin, collection }): Values => [vin, collection]),
  );
  return byName(rows, ({ vin, collection }) => ({ vin: vin as string, collection: collection as string, id: '' }));
}

const NEWEST_ID = `(SELECT id FROM records AS later WHERE later.vehicle = vehicles.id
  AND later.collection = given.collection ORDER BY later.at DESC, later.id DESC LIMIT 1)`;

function recordsJoinedTo(given: string, condition: string): string {
  const columns = `SELECT ${given}.vin, records.collection,`;
  const from = `${given} JOIN vehicles ON vehicles.vin = ${given}.vin
  JOIN records ON records.vehicle = vehicles.id AND ${condition}`;
  return withMessages('records', from).replace('SELECT', columns);
}

/** Pieces of series. */
export async function readPieces(
  select: Select,
  names: readonly RecordName[],
): Promise<ReadonlyMap<string, HubRecord>> {
  const pieces = names.flatMap(({ vin, collection, id }) => {
    const piece = pieceOf(id);
    return piece === undefined ? [] : [{ vin, collection: collection as Kind, ...piece }];
  });
  if (pieces.length === 0) return new Map();
  const given = padded(pieces);
  const rows = await select(
    `WITH given (vin, collection, class, kind, seq, boot) AS (VALUES ${given.map(() => `(?, ?, ${PIECE})`).join(', ')})
     SELECT given.vin, given.collection, records.vehicle, records.id, records.at, payload, behind
     FROM given JOIN vehicles ON vehicles.vin = given.vin JOIN series AS records ON records.vehicle = vehicles.id
       AND records.class = given.class AND records.kind = given.kind AND records.seq = given.seq AND records.boot = given.boot
     LEFT JOIN corrections ON corrections.vehicle = records.vehicle AND corrections.boot = records.boot`,
    ...given.flatMap(
      ({ vin, collection, seq, boot }): Values => [
        vin,
        collection,
        classOf(collection),
        kindNumber(collection),
        seq,
        boot,
      ],
    ),
  );
  return byName(rows);
}

const PIECE = 'CAST(? AS smallint), CAST(? AS smallint), CAST(? AS int), CAST(? AS bigint)';

function byName(
  rows: readonly SqlRow[],
  nameIn: (row: SqlRow) => RecordName = ({ vin, collection, id }) => ({
    vin: vin as string,
    collection: collection as string,
    id: id as string,
  }),
): ReadonlyMap<string, HubRecord> {
  return new Map(rows.map((row) => [recordNameText(nameIn(row)), recordIn(row)]));
}
