/**
 * Tables for readings of telemetry as rows, which are optional (`database.readings`), and views with plain names for
 * people who use SQL. The hub itself reads none of them.
 */
import { SQLITE, type SqlTypes } from './format.ts';

/** Parts that differ between the databases. */
export interface ReadingSql {
  /** Returns statements for the table of readings, with these columns, and its index. */
  table(columns: string): string;
  /** SQL for a time, as people who use SQL expect it, from UTC ms. */
  instant(time: string): string;
  /** Query for the newest value of each path of each car, with the columns of the view `reading`. */
  readonly latest: string;
}

/** Returns the statements for the tables and the views. */
export function readingTables({ long, int, short, real, text, flag, table }: SqlTypes, sql: ReadingSql): string {
  const { instant } = sql;
  return `-- The slots of Status. object: the slot whose time in the table status is also that of this one.
  CREATE TABLE paths (
    id ${int} PRIMARY KEY,
    path ${text} NOT NULL,
    unit ${text},
    object ${int} NOT NULL,
    is_time ${short} NOT NULL
  )${table};
  -- at is corrected where the car learns the time later: until then, boot is the start of its agent, and NULL otherwise.
  ${sql.table(`
    at ${long} NOT NULL,
    received ${long} NOT NULL,
    boot ${long},
    number ${real},
    vehicle ${int} NOT NULL,
    path ${int} NOT NULL,
    flag ${flag},
    text ${text}`)}
  CREATE INDEX untimed_readings ON readings (vehicle, boot) WHERE boot IS NOT NULL;
  CREATE VIEW vehicle AS
    SELECT vin, ${instant('first_seen')} AS first_seen, ${instant('last_seen')} AS last_seen FROM vehicles;
  CREATE VIEW reading AS
    SELECT vin, paths.path, unit, ${instant('at')} AS at, number, flag, text FROM readings
    JOIN vehicles ON vehicles.id = readings.vehicle JOIN paths ON paths.id = readings.path;
  CREATE VIEW latest AS ${sql.latest};
  CREATE VIEW trip AS
    SELECT vin, records.id, ${instant('began')} AS started, distance, duration, state,
      trip_class AS class FROM records
    JOIN vehicles ON vehicles.id = records.vehicle WHERE collection = 'trip';`;
}

/** Tables and views of SQLite. Times are UTC ms there. */
export const sqliteReadings = readingTables(SQLITE, {
  table: (columns) => `CREATE TABLE readings (${columns}) STRICT;
  CREATE INDEX readings_by_time ON readings (vehicle, path, at);
  CREATE INDEX readings_by_arrival ON readings (received);`,
  instant: (time) => time,
  // The type is 'true', 'false', 'integer', 'real', 'text' or 'array' (sqlite.org/json1.html#jtype).
  latest: `SELECT vin, paths.path, unit,
      json_extract(document, '$.times[' || (dated.key + 1) || ']') AS at,
      CASE WHEN given.type IN ('integer', 'real') AND NOT is_time THEN given.value END AS number,
      CASE given.type WHEN 'true' THEN 1 WHEN 'false' THEN 0 END AS flag,
      CASE WHEN is_time THEN strftime('%Y-%m-%dT%H:%M:%fZ', given.value / 1000.0, 'unixepoch')
        WHEN given.type = 'array' THEN (SELECT group_concat(part.value, ',') FROM json_each(given.value) AS part)
        WHEN given.type = 'text' THEN given.value END AS text
    FROM (
      SELECT vehicle, document, slot.value AS id,
        json_extract(document, '$.values[' || (slot.key + 1) || ']') AS value,
        json_type(document, '$.values[' || (slot.key + 1) || ']') AS type
      FROM status, json_each(document, '$.values') AS slot WHERE slot.key % 2 = 0
    ) AS given JOIN vehicles ON vehicles.id = given.vehicle JOIN paths ON paths.id = given.id
    JOIN json_each(document, '$.times') AS dated ON dated.key % 2 = 0 AND dated.value = paths.object`,
});
