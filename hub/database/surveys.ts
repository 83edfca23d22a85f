/** Counts and positions around a page of a keyset, in one statement. */

import type { HubPosition, HubRange, HubSurvey, HubSurveyed } from '../core/ports.ts';
import type { Select, SqlRow } from './rows.ts';

/** A statement with its values. It returns the columns `at`, `id` and `vehicle`; a count is in `at`. */
export interface SurveyPart {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

interface SurveySql {
  count(range: HubRange): SurveyPart;
  places(range: HubRange, limit: number, backwards: boolean): SurveyPart;
}

export function selectSurvey(
  select: Select,
  { range, size, cursor }: HubSurveyed,
  { count, places }: SurveySql,
): Promise<readonly SqlRow[]> {
  const { from, ...end } = range;
  const parts: Partial<Record<keyof HubSurvey, SurveyPart>> = {
    total: count(range),
    first: places(range, 1, false),
    last: places(range, size, true),
    ...(cursor !== undefined && {
      before: count(from === undefined ? { before: cursor } : { from, before: cursor }),
      next: places({ ...end, from: cursor }, 1, false),
    }),
  };
  const all = Object.entries(parts);
  const sql = all.map(([name, part]) => `SELECT '${name}' AS part, at, id, vehicle FROM (${part.sql}) AS page`);
  return select(sql.join(' UNION ALL '), ...all.flatMap(([, { values }]) => values));
}

export function surveyIn(rows: readonly SqlRow[], positionIn: (row: SqlRow) => HubPosition): HubSurvey {
  const of = (name: keyof HubSurvey): SqlRow[] => rows.filter(({ part }) => part === name);
  const position = (name: keyof HubSurvey): HubPosition | undefined => of(name).map(positionIn)[0];
  const count = (name: keyof HubSurvey): number => (of(name)[0]?.['at'] as number | undefined) ?? 0;
  return {
    total: count('total'),
    first: position('first'),
    last: of('last').map(positionIn).sort(compareInOrder).reverse(),
    before: count('before'),
    next: position('next'),
  };
}

/** Splits the id of a record in a list of many cars, where the id also contains the car. */
export function splitId(id: string): [id: string, vehicle: number] {
  const end = id.lastIndexOf(' ');
  const vehicle = Number(id.slice(end + 1));
  return end === -1 || !Number.isSafeInteger(vehicle) ? [id, 0] : [id.slice(0, end), vehicle];
}

/** Compares positions by time, then by id, then by car. */
export function compareInOrder(a: HubPosition, b: HubPosition): number {
  if (a.at !== b.at) return a.at - b.at;
  const [[id, vehicle], [otherId, otherVehicle]] = [splitId(a.id), splitId(b.id)];
  return id < otherId ? -1 : id > otherId ? 1 : vehicle - otherVehicle;
}
