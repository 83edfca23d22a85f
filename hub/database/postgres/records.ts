/** Records of cars at the moments that are known of them: a car that learns the time later corrects what it sent before. */

import { classOf } from '../../../protocol/classes.ts';
import { type CarMessage, correctionIn, isAfter, type RecordPlace, recordPlaceOf } from '../../core/message.ts';
import type { PlacedMessage } from '../event-deliveries.ts';
import { clockNumber, EVENTS, isAfterSql, isSeries, kindNumber, seriesKinds } from '../rows.ts';
import { columns, type Execute } from './database.ts';

/** A car learnt the time: what it sent of this start before has moments that are so far behind. */
export async function keepCorrections(execute: Execute, kept: readonly PlacedMessage[]): Promise<void> {
  for (const { vehicle, message } of kept) {
    const by = correctionIn(message);
    if (by === undefined) continue;
    const correction = [vehicle, message.boot, by];
    const added = await execute(
      'INSERT INTO corrections VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING vehicle',
      correction,
    );
    if (added.length === 0) continue;
    await execute(
      `UPDATE records SET at = records.at + $3, began = records.began + $3 FROM messages
       WHERE records.vehicle = $1 AND records.boot = $2 AND messages.id = records.message AND ${EVENTS} AND messages.clock = $4`,
      [...correction, clockNumber('none')],
    );
    for (const kind of seriesKinds) {
      await execute(
        'UPDATE messages SET at = at + $3 WHERE vehicle = $1 AND boot = $2 AND class = $4 AND kind = $5 AND clock = $6',
        [...correction, classOf(kind), kindNumber(kind), clockNumber('none')],
      );
    }
  }
}

interface PlacedRecord<T = PlacedMessage> {
  readonly one: T;
  readonly place: RecordPlace;
}

/** The newest message of a record has its present form. */
export async function keepRecords(execute: Execute, kept: readonly PlacedMessage[]): Promise<void> {
  const newest = new Map<string, PlacedRecord>();
  for (const one of kept) {
    const place = recordPlaceOf(one.message);
    if (place === undefined || isSeries(place.collection)) continue;
    const key = `${one.vehicle}/${place.collection}/${place.id}`;
    const known = newest.get(key);
    if (known === undefined || isAfter(one.message, known.one.message)) newest.set(key, { one, place });
  }
  if (newest.size === 0) return;
  const behind = await behindOf(execute, [...newest.values()]);
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
      [...newest.values()].map(({ one: { vehicle, row, message }, place: { collection, id, at, facts } }) => {
        const { boot, seq } = message;
        const late = lateness({ vehicle, message }, behind);
        const { began, trip = null, distance = null, duration = null, state = null } = facts ?? {};
        const since = began === undefined ? null : Math.round(began) + late;
        return [vehicle, collection, id, at + late, boot, seq, row, since, trip, distance, duration, state];
      }),
    ),
  );
}

/** What a message of a known car is corrected by. */
type Correctable = Pick<CarMessage, 'message'> & { readonly vehicle: number };

export function lateness(
  { vehicle, message: { clock, boot } }: Correctable,
  behind: ReadonlyMap<string, number>,
): number {
  return clock === 'none' ? (behind.get(`${vehicle}/${boot}`) ?? 0) : 0;
}

/** Offset of the times that cars reported before they knew the time, by vehicle and start. */
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
