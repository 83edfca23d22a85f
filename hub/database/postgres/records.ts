/** Records of cars with the best known times. A car whose clock is set later corrects what it sent before. */

import type { CommitChanges, PlacedRecord } from '../../core/commit.ts';
import type { CarMessage } from '../../core/message.ts';
import { isAfterSql } from '../rows.ts';
import { columns } from './database.ts';
import type { Execute } from './execute.ts';

/** Stores the records. The newest message of a record contains its latest form. */
export async function keepRecords(execute: Execute, records: CommitChanges['records']): Promise<void> {
  if (records.length === 0) return;
  const behind = await behindOf(execute, records);
  await execute(
    `INSERT INTO records (vehicle, collection, id, at, boot, seq, message, began, trip, distance, duration, state)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
       $8::bigint[], $9::text[], $10::float8[], $11::float8[], $12::text[])
     ON CONFLICT (vehicle, collection, id) DO UPDATE
     SET at = excluded.at, boot = excluded.boot, seq = excluded.seq, message = excluded.message,
       began = excluded.began, trip = excluded.trip, distance = excluded.distance, duration = excluded.duration,
       state = excluded.state
     WHERE ${isAfterSql('excluded', 'records')}`,
    columns(
      records.map(({ one: { vehicle, row, message }, place: { collection, id, at, facts } }) => {
        const { boot, seq } = message;
        const late = lateness({ vehicle, message }, behind);
        const { began, trip = null, distance = null, duration = null, state = null } = facts ?? {};
        const since = began === undefined ? null : Math.round(began) + late;
        return [vehicle, collection, id, at + late, boot, seq, row, since, trip, distance, duration, state];
      }),
    ),
  );
}

/** A message of a known car whose times are to be corrected. */
type Correctable = Pick<CarMessage, 'message'> & { readonly vehicle: number };

export function lateness(
  { vehicle, message: { clock, boot } }: Correctable,
  behind: ReadonlyMap<string, number>,
): number {
  return clock === 'none' ? (behind.get(`${vehicle}/${boot}`) ?? 0) : 0;
}

/** Returns, by vehicle and start, the corrections of times from before the car's clock was set. */
export async function behindOf(
  execute: Execute,
  placed: readonly PlacedRecord<Correctable>[],
): Promise<Map<string, number>> {
  const untimed = placed.filter(({ one }) => one.message.clock === 'none');
  if (untimed.length === 0) return new Map();
  const rows = await execute(
    `SELECT corrections.* FROM (SELECT DISTINCT * FROM unnest($1::bigint[], $2::bigint[])) AS given (vehicle, boot)
     JOIN corrections ON corrections.vehicle = given.vehicle AND corrections.boot = given.boot`,
    columns(untimed.map(({ one: { vehicle, message } }) => [vehicle, message.boot])),
  );
  return new Map(rows.map(({ vehicle, boot, behind }) => [`${vehicle}/${boot}`, behind as number]));
}
