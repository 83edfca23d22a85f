/** Parts of collections, found along their indexes, in the SQL that SQLite and PostgreSQL share. */
import type { HubKeyset, HubPosition, HubRange, HubRecord, KnownVehicle } from '../../hub/ports.ts';
import type { Owner } from '../../hub/registry.ts';
import { CAR, knownVehicle, ONE_CARS, ownedBy, recordIn, type Select } from './rows.ts';

/** Bounds as values of a query: an index is read from one to the other. */
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

/** Records of one car by time, then by id. */
export function recordKeys(select: Select, vin: string, collection: string): HubKeyset<HubRecord> {
  const own = `FROM records WHERE vehicle = ${CAR} AND collection = ?`;
  const within = (upTo: string): string =>
    `AND (records.at, records.id) >= (?, ?) AND (records.at, records.id) ${upTo} (?, ?)`;
  const order = (backwards: boolean): string =>
    backwards ? 'ORDER BY records.at DESC, records.id DESC' : 'ORDER BY records.at, records.id';
  const valuesOf = ({ low, high }: ReturnType<typeof boundsOf>): (string | number)[] => {
    return [vin, collection, low.at, low.id, high.at, high.id];
  };
  return {
    count: async (range) => {
      const bounds = boundsOf(range);
      const [row] = await select(`SELECT count(*) AS total ${own} ${within(bounds.upTo)}`, ...valuesOf(bounds));
      return row?.['total'] as number;
    },
    nth: async (range, skip, backwards = false) => {
      const bounds = boundsOf(range);
      const sql = `SELECT at, id ${own} ${within(bounds.upTo)} ${order(backwards)} LIMIT 1 OFFSET ?`;
      const [row] = await select(sql, ...valuesOf(bounds), skip);
      return row && { at: row['at'] as number, id: row['id'] as string };
    },
    read: async (range, limit, backwards = false) => {
      const bounds = boundsOf(range);
      const sql = `${ONE_CARS} ${within(bounds.upTo)} ${order(backwards)} LIMIT ?`;
      return (await select(sql, ...valuesOf(bounds), limit)).map(recordIn);
    },
  };
}

/** Cars by VIN. */
export function vehicleKeys(
  select: Select,
  prefix: string,
  owners?: readonly Owner[],
): HubKeyset<HubPosition & { readonly vehicle: KnownVehicle }> {
  // A VIN has digits and capital letters, after which comes `[`.
  const end = `${prefix}[`;
  const owned = owners && ownedBy(owners);
  const among = owned === undefined ? '' : `AND ${owned.sql}`;
  const within = (upTo: string): string => `FROM vehicles WHERE vin >= ? AND vin ${upTo} ? ${among}`;
  const order = (backwards: boolean): string => (backwards ? 'ORDER BY vin DESC' : 'ORDER BY vin');
  const valuesOf = ({ from, to, before }: HubRange): (string | number)[] => [
    ...[from?.id ?? prefix, to?.id ?? before?.id ?? end],
    ...(owned?.values ?? []),
  ];
  return {
    count: async (range) => {
      const [row] = await select(`SELECT count(*) AS total ${within(boundsOf(range).upTo)}`, ...valuesOf(range));
      return row?.['total'] as number;
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
