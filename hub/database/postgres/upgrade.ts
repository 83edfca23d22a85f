/**
 * Counts the records of a database of format 6, and moves its messages into partitions, in commits of some thousand
 * messages in the order of arrival. A hub that is killed meanwhile continues at its next start. Hubs that start together
 * take turns.
 */
import { DAY } from '../../../protocol/calendar.ts';
import { classOf } from '../../../protocol/classes.ts';
import { type Kind, kinds } from '../../../protocol/schema/kind.ts';
import type { RetentionDays } from '../../core/retention.ts';
import { addedSince6, FORMAT } from '../format.ts';
import { FILL_RECORD_COUNTS } from '../record-counts.ts';
import { kindNumber } from '../rows.ts';
import type { Execute } from './execute.ts';
import { makePartitions, messagesTable, partitionDays } from './partition-tables.ts';
import { countSchema, isPartitioned, messageSchema, type PartitionedKind, POSTGRES, readingSchema } from './schema.ts';

/** Format that is upgraded. */
export const PREVIOUS_FORMAT = 6;
/** Number of messages in one commit. */
const BATCH = 20_000;
/** Most partitions for messages that are stored already. Older messages are in the tables `…_other`. */
const PARTITIONS = 100;

const COLUMNS = 'id, at, received, vehicle, seq, boot, class, kind, clock, payload';

/** Sets the messages aside and makes the new tables. Hubs of the previous format can store nothing from then on. */
export async function beginUpgrade(execute: Execute): Promise<void> {
  await execute(
    `DROP VIEW series;
     DROP INDEX events, events_of_car, series_by_time;
     ALTER SEQUENCE vehicles_id_seq RENAME TO vehicle_ids;
     ALTER SEQUENCE messages_id_seq RENAME TO messages_6_id_seq;
     ALTER INDEX messages_by_arrival RENAME TO messages_6_by_arrival;
     ALTER TABLE messages RENAME TO messages_6;
     ${messageSchema}
     ${addedSince6(POSTGRES)}
     ALTER TABLE trusted_keys ALTER document SET STATISTICS 0;
     ${countSchema}
     ${FILL_RECORD_COUNTS};
     ${readingSchema}
     SELECT setval('messages_id_seq', last_value, is_called) FROM messages_6_id_seq;
     -- The second of arrival up to which the messages of a kind were moved.
     CREATE TABLE upgrade (kind smallint PRIMARY KEY, second bigint NOT NULL);
     UPDATE hub_format SET format = ${FORMAT}`,
  );
}

/** Moves the next messages. @returns false if all were moved before */
export async function continueUpgrade(execute: Execute, days: RetentionDays): Promise<boolean> {
  // Another hub may just have dropped the table, which to_regclass() does not notice.
  const left = await execute(
    "SELECT 1 FROM pg_class WHERE relname = 'messages_6' AND relnamespace = current_schema()::regnamespace",
  );
  if (left.length === 0) return false;
  for (const kind of kinds) if (await moveNext(execute, kind, days)) return true;
  await execute('DROP TABLE messages_6, upgrade; ANALYZE messages');
  return true;
}

async function moveNext(execute: Execute, kind: Kind, days: RetentionDays): Promise<boolean> {
  const own = [classOf(kind), kindNumber(kind)];
  const [progress] = await execute('SELECT second FROM upgrade WHERE kind = $1', [kindNumber(kind)]);
  const from = (progress?.['second'] as number | undefined) ?? Number.MIN_SAFE_INTEGER;
  const [{ first, last } = {}] = await execute(
    `SELECT min(second) AS first, max(second) AS last FROM (SELECT received / 1000 AS second FROM messages_6
     WHERE class = $1 AND kind = $2 AND received / 1000 > $3 ORDER BY received / 1000 LIMIT ${BATCH}) AS part`,
    [...own, from],
  );
  if (last === null) return false;
  if (progress === undefined && isPartitioned(kind)) await makePast(execute, kind, (first as number) * 1_000, days);
  await execute(
    `INSERT INTO messages (${COLUMNS}) OVERRIDING SYSTEM VALUE SELECT ${COLUMNS} FROM messages_6
     WHERE class = $1 AND kind = $2 AND received / 1000 > $3 AND received / 1000 <= $4`,
    [...own, from, last],
  );
  await execute('INSERT INTO upgrade VALUES ($1, $2) ON CONFLICT (kind) DO UPDATE SET second = excluded.second', [
    kindNumber(kind),
    last,
  ]);
  return true;
}

/** Makes the partitions for the messages since `first` (UTC ms). */
async function makePast(execute: Execute, kind: PartitionedKind, first: number, retention: RetentionDays) {
  const [{ now } = {}] = await execute('SELECT CAST(extract(epoch FROM now()) * 1000 AS bigint) AS now');
  const [days, to] = [partitionDays(retention[kind]), now as number];
  await makePartitions(execute, messagesTable(kind), { from: Math.max(first, to - PARTITIONS * days * DAY), to, days });
}
