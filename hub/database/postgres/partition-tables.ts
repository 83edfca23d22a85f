/**
 * Tables of messages and of readings by time of arrival. Rows of another time, as under a wrong clock, are in the table
 * `…_other` of their kind.
 */
import { DAY } from '../../../protocol/calendar.ts';
import { classOf } from '../../../protocol/classes.ts';
import { countLost } from '../exits.ts';
import { kindNumber } from '../rows.ts';
import type { Execute } from './execute.ts';
import { withoutReadingSample } from './reading-tables.ts';
import { type PartitionedKind, withoutSample } from './schema.ts';

const TELEMETRY = 'messages_telemetry';
/** Number of partitions of a kind whose messages are removed. A query locks each of them with its indexes. */
const PARTITIONS = 30;
/** Days of a partition of a kind whose messages are kept for ever. */
const LONGEST_DAYS = 30;
/** Size in bytes up to which the messages of a dropped partition are counted. Of larger ones, the estimate is used. */
const COUNTED_BYTES = 64 * 1024 * 1024;
/** Number of single rows in one commit. */
const BATCH = 500;

/** A table in partitions by time of arrival. */
export interface PartitionedTable {
  readonly name: string;
  /** Returns the statement that creates a table of the same form. */
  create(table: string): string;
  /** Condition for the rows that arrived before `$1` (UTC ms), as an index serves it, and their order. */
  readonly before: string;
  readonly order: string;
}

export const readingsTable: PartitionedTable = {
  name: 'readings',
  create: (table) => `CREATE TABLE ${table} (LIKE readings INCLUDING STORAGE); ${withoutReadingSample(table)}`,
  before: 'received < $1',
  order: '',
};

/** Returns the table of the messages of a kind. */
export function messagesTable(kind: PartitionedKind): PartitionedTable {
  return {
    name: `messages_${kind}`,
    create: (table) => `CREATE TABLE ${table} (LIKE messages INCLUDING STORAGE); ${withoutSample(table)}`,
    before: `class = ${classOf(kind)} AND kind = ${kindNumber(kind)} AND received / 1000 <= CAST($1 AS bigint) / 1000 AND received < $1`,
    order: 'ORDER BY received / 1000',
  };
}

/** A partition with rows from `from` to before `to` (UTC ms of arrival). */
export interface Partition {
  readonly table: string;
  readonly from: number;
  readonly to: number;
}

/** Returns the days of a partition of a kind that is kept for `days`. */
export function partitionDays(days: number | undefined): number {
  return days === undefined ? LONGEST_DAYS : Math.min(LONGEST_DAYS, Math.max(1, Math.ceil(days / PARTITIONS)));
}

/** Partitions of a table in the order of time. */
export async function partitionsOf(execute: Execute, { name }: PartitionedTable): Promise<readonly Partition[]> {
  const rows = await execute(
    `SELECT relname, pg_get_expr(relpartbound, pg_class.oid) AS bounds FROM pg_inherits
     JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = $1::regclass`,
    [name],
  );
  const found = rows.flatMap(({ relname, bounds }) => {
    const [, from, to] = /FROM \('(-?\d+)'\) TO \('(-?\d+)'\)/.exec(bounds as string) ?? [];
    return from === undefined ? [] : [{ table: relname as string, from: Number(from), to: Number(to) }];
  });
  return found.sort((a, b) => a.from - b.from);
}

/** Makes the partitions of a table that are missing for the time from `from` to `to`. */
export async function makePartitions(
  execute: Execute,
  whole: PartitionedTable,
  { from, to, days }: { readonly from: number; readonly to: number; readonly days: number },
): Promise<void> {
  const known = await partitionsOf(execute, whole);
  for (let begin = Math.floor(from / DAY) * DAY; begin < to; ) {
    const covering = known.find((one) => one.from <= begin && begin < one.to);
    const next = known.find((one) => one.from > begin);
    const end = covering?.to ?? Math.min(begin + days * DAY, next?.from ?? Number.POSITIVE_INFINITY);
    if (covering === undefined) await makePartition(execute, whole, begin, end);
    begin = end;
  }
}

async function makePartition(
  execute: Execute,
  { name, create }: PartitionedTable,
  from: number,
  to: number,
): Promise<void> {
  const table = `${name}_${new Date(from).toISOString().slice(0, 10).replaceAll('-', '_')}`;
  await execute(create(table));
  // A hub with a fast clock may have stored rows of this time.
  await execute(
    `WITH moved AS (DELETE FROM ${name}_other WHERE received >= $1 AND received < $2 RETURNING *)
     INSERT INTO ${table} SELECT * FROM moved`,
    [from, to],
  );
  await execute(`ALTER TABLE ${name} ATTACH PARTITION ${table} FOR VALUES FROM ('${from}') TO ('${to}')`);
}

/** Drops the oldest partition that ended by `before`. @returns its number of rows, or 0 if no partition ended by then */
export async function dropOldest(execute: Execute, whole: PartitionedTable, before: number): Promise<number> {
  const oldest = (await partitionsOf(execute, whole)).find(({ to }) => to <= before);
  if (oldest === undefined) return 0;
  const { table } = oldest;
  const [{ size, estimate } = {}] = await execute(
    `SELECT pg_relation_size(oid) AS size, CAST(greatest(reltuples, 0) AS bigint) AS estimate FROM pg_class
     WHERE relname = $1 AND relnamespace = current_schema()::regnamespace`,
    [table],
  );
  const isSmall = (size as number) <= COUNTED_BYTES;
  const [counted] = isSmall ? await execute(`SELECT count(*) AS n FROM ${table}`) : [];
  if (whole.name === TELEMETRY) await execute(countLost(`SELECT id FROM ${table}`));
  await execute(`DROP TABLE ${table}`);
  return (counted?.['n'] ?? estimate) as number;
}

/** Deletes old rows. Skips those that another hub deletes, so that hubs never wait for each other. */
export async function removeRows(
  execute: Execute,
  table: string,
  { name, before: condition, order }: PartitionedTable,
  before: number,
): Promise<number> {
  const removed = await execute(
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table}
       WHERE ${condition} ${order} LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)) RETURNING ${name === TELEMETRY ? 'id' : '1 AS n'}`,
    [before],
  );
  if (name === TELEMETRY && removed.length > 0) {
    await execute(countLost('SELECT unnest($1::bigint[]) AS id'), [removed.map(({ id }) => id)]);
  }
  return removed.length;
}
