/**
 * Tables of messages by time of arrival. Messages of another time, as under a wrong clock, are in the table `…_other` of
 * their kind.
 */
import { DAY } from '../../../protocol/calendar.ts';
import { classOf } from '../../../protocol/classes.ts';
import { kindNumber } from '../rows.ts';
import type { Execute } from './execute.ts';
import { type PartitionedKind, withoutSample } from './schema.ts';

/** Number of partitions of a kind whose messages are removed. A query locks each of them with its indexes. */
const PARTITIONS = 30;
/** Days of a partition of a kind whose messages are kept for ever. */
const LONGEST_DAYS = 30;
/** Size in bytes up to which the messages of a dropped partition are counted. Of larger ones, the estimate is used. */
const COUNTED_BYTES = 64 * 1024 * 1024;
/** Number of single rows in one commit. */
const BATCH = 500;

/** A partition with messages from `from` to before `to` (UTC ms of arrival). */
export interface Partition {
  readonly table: string;
  readonly from: number;
  readonly to: number;
}

/** Returns the days of a partition of a kind that is kept for `days`. */
export function partitionDays(days: number | undefined): number {
  return days === undefined ? LONGEST_DAYS : Math.min(LONGEST_DAYS, Math.max(1, Math.ceil(days / PARTITIONS)));
}

/** Partitions of a kind in the order of time. */
export async function partitionsOf(execute: Execute, kind: PartitionedKind): Promise<readonly Partition[]> {
  const rows = await execute(
    `SELECT relname, pg_get_expr(relpartbound, pg_class.oid) AS bounds FROM pg_inherits
     JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = $1::regclass`,
    [`messages_${kind}`],
  );
  const found = rows.flatMap(({ relname, bounds }) => {
    const [, from, to] = /FROM \('(-?\d+)'\) TO \('(-?\d+)'\)/.exec(bounds as string) ?? [];
    return from === undefined ? [] : [{ table: relname as string, from: Number(from), to: Number(to) }];
  });
  return found.sort((a, b) => a.from - b.from);
}

/** Makes the partitions of a kind that are missing for the time from `from` to `to`. */
export async function makePartitions(
  execute: Execute,
  kind: PartitionedKind,
  { from, to, days }: { readonly from: number; readonly to: number; readonly days: number },
): Promise<void> {
  const known = await partitionsOf(execute, kind);
  for (let begin = Math.floor(from / DAY) * DAY; begin < to; ) {
    const covering = known.find((one) => one.from <= begin && begin < one.to);
    const next = known.find((one) => one.from > begin);
    const end = covering?.to ?? Math.min(begin + days * DAY, next?.from ?? Number.POSITIVE_INFINITY);
    if (covering === undefined) await makePartition(execute, kind, begin, end);
    begin = end;
  }
}

async function makePartition(execute: Execute, kind: PartitionedKind, from: number, to: number): Promise<void> {
  const table = `messages_${kind}_${new Date(from).toISOString().slice(0, 10).replaceAll('-', '_')}`;
  await execute(`CREATE TABLE ${table} (LIKE messages INCLUDING STORAGE); ${withoutSample(table)}`);
  // A hub with a fast clock may have stored messages of this time.
  await execute(
    `WITH moved AS (DELETE FROM messages_${kind}_other WHERE received >= $1 AND received < $2 RETURNING *)
     INSERT INTO ${table} SELECT * FROM moved`,
    [from, to],
  );
  await execute(`ALTER TABLE messages_${kind} ATTACH PARTITION ${table} FOR VALUES FROM ('${from}') TO ('${to}')`);
}

/** Drops the oldest partition that ended by `before`. @returns its number of messages, 0 if there is none */
export async function dropOldest(execute: Execute, kind: PartitionedKind, before: number): Promise<number> {
  const oldest = (await partitionsOf(execute, kind)).find(({ to }) => to <= before);
  if (oldest === undefined) return 0;
  const { table } = oldest;
  const [{ size, estimate } = {}] = await execute(
    `SELECT pg_relation_size(oid) AS size, CAST(greatest(reltuples, 0) AS bigint) AS estimate FROM pg_class
     WHERE relname = $1 AND relnamespace = current_schema()::regnamespace`,
    [table],
  );
  const isSmall = (size as number) <= COUNTED_BYTES;
  const [counted] = isSmall ? await execute(`SELECT count(*) AS messages FROM ${table}`) : [];
  await execute(`DROP TABLE ${table}`);
  return (counted?.['messages'] ?? estimate) as number;
}

/** Deletes old rows. Skips those that another hub deletes, so that hubs never wait for each other. */
export async function removeRows(
  execute: Execute,
  table: string,
  kind: PartitionedKind,
  before: number,
): Promise<number> {
  const removed = await execute(
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table}
       WHERE class = $1 AND kind = $2 AND received / 1000 <= $3 AND received < $4
       ORDER BY received / 1000 LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)) RETURNING id`,
    [classOf(kind), kindNumber(kind), Math.floor(before / 1000), before],
  );
  return removed.length;
}
