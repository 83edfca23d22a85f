/** Readings as rows in PostgreSQL, in partitions by time of arrival, and SQL for the views. */
import type { ReadingSql } from '../reading-tables.ts';

/** No sample of what cars sent in the statistics of the planner, from which a forgotten car would not vanish. */
export const withoutReadingSample = (table: string): string =>
  `ALTER TABLE ${table} ALTER number SET STATISTICS 0, ALTER flag SET STATISTICS 0, ALTER text SET STATISTICS 0;`;

const instant = (time: string): string => `to_timestamp(CAST(${time} AS float8) / 1000)`;

export const readingSql: ReadingSql = {
  table: (columns) => `CREATE TABLE readings (${columns}) PARTITION BY RANGE (received);
  CREATE INDEX readings_by_time ON readings (vehicle, path, (${instant('at')}));
  CREATE TABLE readings_other PARTITION OF readings DEFAULT;
  ${withoutReadingSample('readings_other')}`,
  instant,
  latest: `SELECT vin, path, unit, ${instant('dated.value')} AS at,
      CASE WHEN type = 'number' AND is_time = 0 THEN CAST(given.value AS float8) END AS number,
      CASE WHEN type = 'boolean' THEN CAST(given.value AS boolean) END AS flag,
      CASE WHEN is_time = 1 THEN to_char(${instant('given.value')} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        WHEN type = 'array' THEN (SELECT string_agg(part, ',') FROM jsonb_array_elements_text(given.value) AS part)
        WHEN type = 'string' THEN given.value #>> '{}' END AS text
    FROM status JOIN vehicles ON vehicles.id = status.vehicle
    -- A text of a car may contain U+0000, which jsonb refuses.
    CROSS JOIN LATERAL (SELECT CAST(replace(document, '\\u0000', '\\ufffd') AS jsonb) AS whole OFFSET 0) AS parsed
    CROSS JOIN LATERAL (SELECT id, value, jsonb_typeof(value) AS type FROM ${pairs('values')} AS pair) AS given
    JOIN paths ON paths.id = given.id
    JOIN LATERAL ${pairs('times')} AS dated ON dated.id = paths.object`,
};

/** Rows from a list of the Status of a car (`KeptStatus`), in which ids and values alternate. */
function pairs(list: string): string {
  return `(SELECT CASE WHEN jsonb_typeof(id) = 'number' THEN CAST(id AS bigint) END AS id, value FROM (
      SELECT element AS id, lead(element) OVER (ORDER BY place) AS value, place
      FROM jsonb_array_elements(whole -> '${list}') WITH ORDINALITY AS listed (element, place)
    ) AS numbered WHERE place % 2 = 1)`;
}
