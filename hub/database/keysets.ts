/** Keysets of collections along their indexes, in the SQL that SQLite and PostgreSQL share. */

import type { Period } from '../../protocol/interface/parameters.ts';
import { boundsOf as boundsOfRange, type RecordFilter } from '../../protocol/interface/record-filter.ts';
import type {
  FleetRecord,
  FleetRecordsAsked,
  HubKeyset,
  HubPosition,
  HubRange,
  HubRecord,
  HubSurvey,
  KnownVehicle,
} from '../core/ports.ts';
import type { Owner } from '../core/registry.ts';
import { type CountedRecords, madeDuring, totalSql } from './record-counts.ts';
import {
  ACROSS_CARS,
  type SqlCondition as Condition,
  carsOf,
  knownVehicle,
  ownedBy,
  type RecordTable,
  recordIn,
  type Select,
  type SqlRow,
  tableOf,
  wholeNumber,
} from './rows.ts';
import { compareInOrder, type SurveyPart, selectSurvey, splitId, surveyIn } from './surveys.ts';

/** Returns the bounds of a query that reads an index from the lower to the upper bound. */
function boundsOf({ from, to, before }: HubRange): {
  readonly low: HubPosition;
  readonly high: HubPosition;
  readonly upTo: string;
} {
  return {
    low: from ?? { at: Number.MIN_SAFE_INTEGER, id: '' },
    high: to ?? before ?? { at: Number.MAX_SAFE_INTEGER, id: '' },
    upTo: to === undefined ? '<' : '<=',
  };
}

/** Largest number of periods in one query. Each period is a term of its condition. */
const PERIODS = 300;

/** Selects the records of a collection. */
interface Asked {
  readonly conditions: readonly Condition[];
  readonly filter: RecordFilter | undefined;
  /** True if the records are of one car: positions then consist of time and id, otherwise of time, id and car. */
  readonly ofOneCar: boolean;
  readonly table: RecordTable;
  /** Collection and fleet that have counts. */
  readonly counted?: Pick<CountedRecords, 'collection' | 'fleet'>;
}

/** Records of one car, sorted by time, then by id. */
export function recordKeys(
  select: Select,
  vin: string,
  collection: string,
  filter?: RecordFilter,
): HubKeyset<HubRecord> {
  const table = tableOf(collection);
  const own: Condition = { sql: table.own, values: [vin, table.value] };
  return keysOf(select, { conditions: [own], filter, ofOneCar: true, table });
}

/** Records of many cars, sorted by time, id and car. */
export function fleetRecordKeys(
  select: Select,
  collection: string,
  { owners, filter, newest = false }: FleetRecordsAsked,
): HubKeyset<FleetRecord> {
  const conditions: Condition[] = [{ sql: ACROSS_CARS, values: [collection] }];
  if (owners !== undefined) conditions.push(carsOf(owners));
  if (newest) conditions.push({ sql: NEWEST, values: [] });
  const fleet = owners === undefined ? '' : countedFleet(owners);
  const counted = newest || fleet === undefined ? {} : { counted: { collection, fleet } };
  const asked: Asked = { conditions, filter, ofOneCar: false, table: tableOf(collection), ...counted };
  return keysOf(select, asked) as HubKeyset<FleetRecord>;
}

const NEWEST = `NOT EXISTS (SELECT 1 FROM records AS later WHERE later.vehicle = records.vehicle
  AND later.collection = records.collection AND (later.at, later.id) > (records.at, records.id))`;

/** Returns the fleet if it is the only owner: cars of several owners are not counted together. */
function countedFleet([first, ...others]: readonly Owner[]): string | undefined {
  return first?.kind === 'fleet' && others.length === 0 ? first.id : undefined;
}

function keysOf(select: Select, asked: Asked): HubKeyset<HubRecord> {
  const { periods = [] } = asked.filter ?? {};
  return periods.length > PERIODS ? keysInParts(select, asked, periods) : keysBySql(select, asked);
}

interface PlacedKeyset extends HubKeyset<HubRecord> {
  /** Returns the positions of the first `limit` records; if `backwards`, of the last ones. */
  places(range: HubRange, limit: number, backwards: boolean): Promise<readonly HubPosition[]>;
}

/** SQL of a keyset. */
interface KeysetSql {
  /** FROM, WHERE and order for the first `limit` records. */
  inOrder(range: HubRange, limit: number, backwards: boolean): Condition;
  positionIn(row: SqlRow): HubPosition;
  /** Expression for the number of records in a range. */
  total(range: HubRange): Condition;
}

function keysetSql({ conditions, filter, ofOneCar, table, counted }: Asked): KeysetSql {
  const { periods } = filter ?? {};
  const own = [...conditions, ...conditionsOf(filter)];
  const columns = ['records.at', 'records.id', ...(ofOneCar ? [] : ['records.vehicle'])];
  const placeOf = ({ at, id }: HubPosition): (string | number)[] => (ofOneCar ? [at, id] : [at, ...splitId(id)]);
  const within = (range: HubRange, ...more: readonly Condition[]): Condition => {
    const { low, high, upTo } = boundsOf(range);
    const [place, marks] = [columns.join(', '), columns.map(() => '?').join(', ')];
    const bounds = `(${place}) >= (${marks}) AND (${place}) ${upTo} (${marks})`;
    const all = [...own, ...more, { sql: bounds, values: [...placeOf(low), ...placeOf(high)] }];
    return {
      sql: `FROM ${table.from} WHERE ${all.map(({ sql }) => sql).join(' AND ')}`,
      values: all.flatMap(({ values }) => values),
    };
  };
  // Periods of one car have their own index. Without `+ 0` the database would scan the index by time from the start of
  // the collection.
  const [time, ...rest] = columns;
  const sorted = ofOneCar && periods !== undefined ? [`${time} + 0`, ...rest] : columns;
  const days = ofOneCar || periods === undefined ? [] : [madeDuring(table.value as string, periods)];
  const counting = (range: HubRange, ...more: readonly Condition[]): Condition => {
    const { sql, values } = within(range, ...more);
    return { sql: `SELECT count(*) ${sql}`, values };
  };
  return {
    inOrder: (range, limit, backwards) => {
      const { sql, values } = within(range, ...days);
      const order = sorted.map((column) => (backwards ? `${column} DESC` : column)).join(', ');
      return { sql: `${sql} ORDER BY ${order} LIMIT ?`, values: [...values, limit] };
    },
    positionIn: (row) => ({
      at: row['at'] as number,
      id: ofOneCar ? (row['id'] as string) : `${row['id']} ${row['vehicle']}`,
    }),
    total: (range) => {
      const kept = counted && keptCounts(counted, filter);
      const whole = (condition?: Condition): Condition =>
        counting(range, ...(condition === undefined ? [] : [condition]));
      if (kept !== undefined) return totalSql(kept, range, whole);
      const { sql, values } = whole();
      return { sql: `(${sql})`, values };
    },
  };
}

/** Returns the counts for a filter, or undefined if the filter needs columns that they do not have. */
function keptCounts(
  counted: Pick<CountedRecords, 'collection' | 'fleet'>,
  { periods, trip, distance, duration, states }: RecordFilter = {},
): CountedRecords | undefined {
  const needsMore =
    trip !== undefined || boundsOfRange(distance) !== undefined || boundsOfRange(duration) !== undefined;
  if (needsMore || (periods !== undefined && periods.length !== 1)) return undefined;
  return { ...counted, period: periods?.[0], states };
}

function keysBySql(select: Select, asked: Asked): PlacedKeyset {
  const { ofOneCar, table } = asked;
  const parts = keysetSql(asked);
  const places = async (range: HubRange, limit: number, backwards: boolean, skip = 0): Promise<HubPosition[]> => {
    const { sql, values } = parts.inOrder(range, limit, backwards);
    const rows = await select(`SELECT vehicle, at, id ${sql} OFFSET ?`, ...values, skip);
    return rows.map(parts.positionIn);
  };
  return {
    survey: async (surveyed) => {
      const rows = await selectSurvey(select, surveyed, {
        count: (range) => {
          const { sql, values } = parts.total(range);
          return { sql: `SELECT ${sql} AS at, '' AS id, 0 AS vehicle`, values };
        },
        places: (range, limit, backwards) => {
          const { sql, values } = parts.inOrder(range, limit, backwards);
          return { sql: `SELECT records.at, records.id, vehicle ${sql}`, values };
        },
      });
      return surveyIn(rows, parts.positionIn);
    },
    nth: async (range, skip, backwards = false) => (await places(range, 1, backwards, skip))[0],
    places,
    read: async (range, limit, backwards = false) => {
      const { sql: found, values } = parts.inOrder(range, limit, backwards);
      // Filter before joining the messages.
      const own = table.read('page', `(SELECT vehicle, at, id, boot, ${table.beside} ${found}) AS page`);
      const sql = ofOneCar ? own : own.replace('SELECT', `SELECT ${VIN} AS vin,`);
      const rows = await select(sql, ...values);
      const read = rows.map((row) => ({ ...recordIn(row), ...parts.positionIn(row), vin: row['vin'] as string }));
      return inOrder(read, backwards);
    },
  };
}

const VIN = '(SELECT vin FROM vehicles WHERE id = page.vehicle)';

/** Keyset for very many periods. Reads the positions of all parts first, and keeps them in memory together. */
function keysInParts(select: Select, asked: Asked, periods: readonly Period[]): HubKeyset<HubRecord> {
  const parts: PlacedKeyset[] = [];
  for (let begin = 0; begin < periods.length; begin += PERIODS) {
    const filter = { ...asked.filter, periods: periods.slice(begin, begin + PERIODS) };
    parts.push(keysBySql(select, { ...asked, filter }));
  }
  const gathered = async <T>(read: (part: PlacedKeyset) => Promise<readonly T[]>): Promise<T[]> => {
    const found: T[] = [];
    for (const part of parts) found.push(...(await read(part)));
    return found;
  };
  return {
    survey: async (asked) => {
      const all = await gathered(async (part) => [await part.survey(asked)]);
      const of = (found: (one: HubSurvey) => HubPosition | readonly HubPosition[] | undefined, backwards = false) =>
        inOrder(
          all.flatMap((one) => found(one) ?? []),
          backwards,
        );
      return {
        total: all.reduce((sum, { total }) => sum + total, 0),
        first: of(({ first }) => first)[0],
        last: of(({ last }) => last, true).slice(0, asked.size),
        before: all.reduce((sum, { before }) => sum + before, 0),
        next: of(({ next }) => next)[0],
      };
    },
    nth: async (range, skip, backwards = false) => {
      const places = await gathered((part) => part.places(range, skip + 1, backwards));
      return inOrder(places, backwards)[skip];
    },
    read: async (range, limit, backwards = false) =>
      inOrder(await gathered((part) => part.read(range, limit, backwards)), backwards).slice(0, limit),
  };
}

function inOrder<T extends HubPosition>(records: readonly T[], backwards: boolean): T[] {
  const sorted = records.toSorted(compareInOrder);
  return backwards ? sorted.reverse() : sorted;
}

/** Returns the conditions of a filter. */
function conditionsOf({ periods, trip, distance, duration, states }: RecordFilter = {}): Condition[] {
  const conditions: Condition[] = [];
  if (periods !== undefined) conditions.push(duringAny(periods));
  if (trip !== undefined) conditions.push({ sql: 'trip = ?', values: [trip] });
  for (const [column, range] of [
    ['distance', boundsOfRange(distance)],
    ['duration', boundsOfRange(duration)],
  ] as const) {
    if (range === undefined) continue;
    const { min, max } = range;
    conditions.push({ sql: `${column} >= ? AND ${column} <= ?`, values: [min, Math.min(max, Number.MAX_VALUE)] });
  }
  if (states !== undefined) {
    conditions.push({ sql: `state IN (${states.map(() => '?').join(', ')})`, values: states });
  }
  return conditions;
}

/** Returns a condition for any of the periods. The first and the last time limit the scanned part of the index. */
function duringAny(periods: readonly Period[]): Condition {
  const ranges = periods.map(({ from, to }) => [
    wholeNumber(from, Number.MIN_SAFE_INTEGER),
    wholeNumber(to, Number.MAX_SAFE_INTEGER),
  ]);
  const [first, last] = [ranges[0]?.[0], ranges.at(-1)?.[1]];
  if (first === undefined || last === undefined) return { sql: 'FALSE', values: [] };
  const bounds = 'began >= ? AND began < ?';
  if (ranges.length === 1) return { sql: bounds, values: [first, last] };
  const any = ranges.map(() => `(${bounds})`).join(' OR ');
  return { sql: `${bounds} AND (${any})`, values: [first, last, ...ranges.flat()] };
}

/** Cars, sorted by VIN. */
export function vehicleKeys(
  select: Select,
  prefix: string,
  owners?: readonly Owner[],
): HubKeyset<HubPosition & { readonly vehicle: KnownVehicle }> {
  // A VIN contains digits and capital letters; `[` is the next character after `Z`.
  const end = `${prefix}[`;
  const owned = owners && ownedBy(owners);
  const among = owned === undefined ? '' : `AND ${owned.sql}`;
  const within = (upTo: string): string => `FROM vehicles WHERE vin >= ? AND vin ${upTo} ? ${among}`;
  const order = (backwards: boolean): string => (backwards ? 'ORDER BY vin DESC' : 'ORDER BY vin');
  const valuesOf = ({ from, to, before }: HubRange): (string | number)[] => [
    from?.id ?? prefix,
    to?.id ?? before?.id ?? end,
    ...(owned?.values ?? []),
  ];
  return {
    survey: async (asked) => {
      const part = (range: HubRange, sql: (within: string) => string, ...limit: number[]): SurveyPart => ({
        sql: sql(within(boundsOf(range).upTo)),
        values: [...valuesOf(range), ...limit],
      });
      const rows = await selectSurvey(select, asked, {
        count: (range) => part(range, (all) => `SELECT count(*) AS at, '' AS id, 0 AS vehicle ${all}`),
        places: (range, limit, backwards) =>
          part(range, (all) => `SELECT 0 AS at, vin AS id, 0 AS vehicle ${all} ${order(backwards)} LIMIT ?`, limit),
      });
      return surveyIn(rows, ({ id }) => ({ at: 0, id: id as string }));
    },
    nth: async (range, skip, backwards = false) => {
      const sql = `SELECT vin ${within(boundsOf(range).upTo)} ${order(backwards)} LIMIT 1 OFFSET ?`;
      const [row] = await select(sql, ...valuesOf(range), skip);
      return row && { at: 0, id: row['vin'] as string };
    },
    read: async (range, limit, backwards = false) => {
      const sql = `SELECT vin, first_seen, last_seen ${within(boundsOf(range).upTo)} ${order(backwards)} LIMIT ?`;
      const rows = await select(sql, ...valuesOf(range), limit);
      return rows.map((row) => ({ at: 0, id: row['vin'] as string, vehicle: knownVehicle(row) }));
    },
  };
}
