/**
 * Counts of records by day, which triggers keep in the commit that changes the records. A total over a range of time is
 * the sum of its whole days plus a count along an index of the records of its first and last day.
 */

import { DAY } from '../../protocol/calendar.ts';
import type { Period } from '../../protocol/interface/parameters.ts';
import type { HubRange } from '../core/ports.ts';
import type { SqlTypes } from './format.ts';
import { type SqlCondition, wholeNumber } from './rows.ts';

/** Days before 1970 that a column can contain, so that the division of integers rounds down in both databases. */
const FIRST_DAY = 100_000_000;

const dayOf = (at: number): number => Math.floor(at / DAY) + FIRST_DAY;
const startOf = (day: number): number => (day - FIRST_DAY) * DAY;
const daySql = (time: string): string => `CAST((${time} + ${FIRST_DAY} * CAST(${DAY} AS bigint)) / ${DAY} AS int)`;

/** Columns of `record_counts` from a row of `records`. A record without a begin has the day -1. */
export const countColumns = (row: string): string =>
  `${row}.collection, coalesce(${row}.state, '') AS state, ${daySql(`${row}.at`)} AS at_day,
   coalesce(${daySql(`${row}.began`)}, -1) AS began_day`;

/** `fleet` is empty for all cars. `key`: columns before, `unique`: constraint after the others. */
export function countsTable({ text, int, long, table }: SqlTypes, key: string, unique: string): string {
  return `CREATE TABLE record_counts (
    ${key}
    fleet ${text} NOT NULL,
    collection ${text} NOT NULL,
    state ${text} NOT NULL,
    at_day ${int} NOT NULL,
    began_day ${int} NOT NULL,
    n ${long} NOT NULL${unique}
  )${table};`;
}

const OF_FLEETS = `FROM records JOIN vehicles ON vehicles.id = records.vehicle
  JOIN owned_cars ON owned_cars.vin = vehicles.vin AND owned_cars.kind = 'fleet'`;

/** Fills the empty table from the records. */
export const FILL_RECORD_COUNTS = `INSERT INTO record_counts (fleet, collection, state, at_day, began_day, n)
  SELECT fleet, collection, state, at_day, began_day, count(*) FROM (
    SELECT '' AS fleet, ${countColumns('records')} FROM records
    UNION ALL SELECT owned_cars.owner AS fleet, ${countColumns('records')} ${OF_FLEETS}
  ) AS given GROUP BY fleet, collection, state, at_day, began_day`;

/** Table and triggers of SQLite: one row for each key. */
export function sqliteCounts(types: SqlTypes): string {
  const add = (fleets: string, row: string, by: number): string =>
    `INSERT INTO record_counts SELECT fleet, ${countColumns(row)}, ${by} FROM (${fleets}) WHERE TRUE
     ON CONFLICT DO UPDATE SET n = n + excluded.n;`;
  const fleetsOf = (row: string): string => `SELECT '' AS fleet UNION ALL SELECT owner FROM vehicles
    JOIN owned_cars ON owned_cars.vin = vehicles.vin AND kind = 'fleet' WHERE vehicles.id = ${row}.vehicle`;
  const join = (row: string, by: string): string =>
    `INSERT INTO record_counts SELECT ${row}.owner, ${countColumns('records')}, ${by}count(*) FROM vehicles
     JOIN records ON records.vehicle = vehicles.id WHERE vehicles.vin = ${row}.vin GROUP BY 2, 3, 4, 5
     ON CONFLICT DO UPDATE SET n = n + excluded.n;`;
  const [added, removed] = [add(fleetsOf('NEW'), 'NEW', 1), add(fleetsOf('OLD'), 'OLD', -1)];
  return `${countsTable(types, '', ', PRIMARY KEY (fleet, collection, at_day, began_day, state)')}
  CREATE TRIGGER count_added AFTER INSERT ON records BEGIN ${added} END;
  CREATE TRIGGER count_changed AFTER UPDATE OF at, began, state ON records BEGIN ${removed} ${added} END;
  CREATE TRIGGER count_removed AFTER DELETE ON records BEGIN ${removed} END;
  CREATE TRIGGER count_joined AFTER INSERT ON owned_cars WHEN NEW.kind = 'fleet' BEGIN ${join('NEW', '')} END;
  CREATE TRIGGER count_left AFTER DELETE ON owned_cars WHEN OLD.kind = 'fleet' BEGIN ${join('OLD', '-')} END;`;
}

/** Records that the counts can count: of all cars or of a fleet, in at most one period. */
export interface CountedRecords {
  readonly collection: string;
  /** Id of the fleet; empty for all cars. */
  readonly fleet: string;
  readonly period: Period | undefined;
  readonly states: readonly string[] | undefined;
}

/**
 * Returns SQL for the number of records in a range. `counting` returns a statement that counts those of the range that
 * meet a condition along an index.
 */
export function totalSql(
  { collection, fleet, period, states }: CountedRecords,
  { from, to, before }: HubRange,
  counting: (condition?: SqlCondition) => SqlCondition,
): SqlCondition {
  const end = to ?? before;
  const [low, high] = [from, end].map((place) => (place === undefined ? undefined : dayOf(place.at)));
  const [begin, stop] = period === undefined ? [] : boundsOf(period);
  // Whole days: from the first one on, and before the last one.
  const first = begin === undefined ? undefined : Math.max(0, dayOf(begin - 1) + 1);
  const last = stop === undefined ? undefined : dayOf(stop);
  if ((low !== undefined && high !== undefined && high - low < 2) || (first !== undefined && first >= (last ?? 0))) {
    const { sql, values } = counting();
    return { sql: `(${sql})`, values };
  }
  const conditions: readonly (readonly [sql: string, value: string | number | undefined])[] = [
    ['fleet = ?', fleet],
    ['collection = ?', collection],
    ['at_day > ?', low],
    ['at_day < ?', high],
    ['began_day >= ?', first],
    ['began_day < ?', last],
  ];
  const used = conditions.filter(([, value]) => value !== undefined);
  const inStates = states === undefined ? '' : ` AND state IN (${states.map(() => '?').join(', ')})`;
  const sum: SqlCondition = {
    sql: `SELECT coalesce(CAST(sum(n) AS bigint), 0) FROM record_counts WHERE ${used.map(([sql]) => sql).join(' AND ')}${inStates}`,
    values: [...used.map(([, value]) => value as string | number), ...(states ?? [])],
  };
  const between = [
    ...(low === undefined ? [] : [['records.at >= ?', startOf(low + 1)] as const]),
    ...(high === undefined ? [] : [['records.at < ?', startOf(high)] as const]),
  ];
  const edges: (readonly (readonly [sql: string, value: number])[])[] = [];
  if (low !== undefined) edges.push([['records.at < ?', startOf(low + 1)]]);
  if (high !== undefined) edges.push([['records.at >= ?', startOf(high)]]);
  if (first !== undefined && startOf(first) > (begin ?? 0)) edges.push([...between, ['began < ?', startOf(first)]]);
  if (last !== undefined && startOf(last) < (stop ?? 0)) edges.push([...between, ['began >= ?', startOf(last)]]);
  const parts = [
    sum,
    ...edges.map((all) =>
      counting({ sql: all.map(([sql]) => sql).join(' AND '), values: all.map(([, value]) => value) }),
    ),
  ];
  return { sql: parts.map(({ sql }) => `(${sql})`).join(' + '), values: parts.flatMap(({ values }) => values) };
}

/** Returns the bounds of a period as integers. */
function boundsOf({ from, to }: Period): [from: number, to: number] {
  return [wholeNumber(from, Number.MIN_SAFE_INTEGER), wholeNumber(to, Number.MAX_SAFE_INTEGER)];
}

/**
 * Returns a condition that all records of the periods meet, so that the index by time is read only where they are. The
 * counts contain the days on which records that began in the periods were made.
 */
export function madeDuring(collection: string, periods: readonly Period[]): SqlCondition {
  const [first, last] = [periods[0], periods.at(-1)];
  if (first === undefined || last === undefined) return { sql: 'FALSE', values: [] };
  const days = [collection, dayOf(boundsOf(first)[0]), dayOf(boundsOf(last)[1])];
  const bound = (day: string): string => `(SELECT (CAST(${day} AS bigint) - ${FIRST_DAY}) * ${DAY} FROM record_counts
    WHERE fleet = '' AND collection = ? AND began_day >= ? AND began_day <= ?)`;
  return {
    sql: `records.at >= ${bound('min(at_day)')} AND records.at < ${bound('max(at_day) + 1')}`,
    values: [...days, ...days],
  };
}
