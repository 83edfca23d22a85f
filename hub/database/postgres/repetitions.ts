/** Messages that arrived before, and different messages with the same number. */
import type { PlacedMessage } from '../../core/commit.ts';
import type { CarMessage } from '../../core/message.ts';
import { numbersIn } from '../queries.ts';
import { columns, type Execute } from './database.ts';

/** Returns the messages that have the same number as a stored message with different bytes. */
export async function conflictingIn<T extends CarMessage & { readonly vehicle: number }>(
  execute: Execute,
  repeated: readonly T[],
): Promise<T[]> {
  if (repeated.length === 0) return [];
  const rows = await execute(
    `SELECT given.place FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::bigint[], $5::bigint[], $6::bytea[])
       AS given (place, vehicle, class, seq, boot, payload)
     JOIN messages ON messages.vehicle = given.vehicle AND messages.class = given.class AND messages.seq = given.seq
       AND messages.boot = given.boot WHERE messages.payload <> given.payload`,
    columns(
      repeated.map(({ vehicle, class: priority, message: { seq, boot }, payload }, place) => [
        place,
        vehicle,
        priority,
        seq,
        boot,
        payload,
      ]),
    ),
  );
  const places = new Set(rows.map(({ place }) => place));
  return repeated.filter((_, place) => places.has(place));
}

/** Deletes the inserted rows of messages that retention had removed: their numbers stay without a message. */
export async function withoutRemoved(execute: Execute, inserted: readonly PlacedMessage[]): Promise<PlacedMessage[]> {
  if (inserted.length === 0) return [];
  const keys = new Map(inserted.map(({ vehicle, class: priority }) => [`${vehicle}/${priority}`, [vehicle, priority]]));
  const numbers = new Map(
    (
      await execute(
        `SELECT numbers.* FROM unnest($1::bigint[], $2::smallint[]) AS given (vehicle, class)
         JOIN numbers ON numbers.vehicle = given.vehicle AND numbers.class = given.class`,
        columns([...keys.values()]),
      )
    ).map((row) => [`${row['vehicle']}/${row['class']}`, numbersIn(row)]),
  );
  const known = inserted.filter(
    ({ vehicle, class: priority, message }) => numbers.get(`${vehicle}/${priority}`)?.has(message) === true,
  );
  if (known.length === 0) return [...inserted];
  const removed = await execute(
    `DELETE FROM messages WHERE id = ANY ($1::bigint[]) AND NOT EXISTS (SELECT 1 FROM messages AS other
       WHERE other.vehicle = messages.vehicle AND other.class = messages.class AND other.seq = messages.seq
         AND other.id <> messages.id) RETURNING id`,
    columns(known.map(({ row }) => [row])),
  );
  const rows = new Set(removed.map(({ id }) => id));
  return inserted.filter(({ row }) => !rows.has(row));
}
