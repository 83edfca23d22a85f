/**
 * Counts of records in PostgreSQL. Each commit adds rows with differences, so that hubs never wait for each other's
 * counts; a total is their sum. Now and then a commit merges the rows of a key that no other commit holds.
 */
import type { SqlTypes } from '../format.ts';
import { countColumns, countsTable } from '../record-counts.ts';

/** Every so many rows, the rows with the key of the new one are merged. */
const MERGED_EVERY = 32;

const KEY = 'fleet, collection, state, at_day, began_day';
const INSERT = `INSERT INTO record_counts (${KEY}, n)`;

/** Adds the sums of `n` over rows with `vehicle` and the columns of the key, for all cars and for the fleets. */
function difference(rows: string): string {
  return `WITH given AS (${rows})
    ${INSERT} SELECT ${KEY}, sum(n) FROM (
      SELECT '' AS fleet, given.* FROM given
      UNION ALL SELECT owned_cars.owner, given.* FROM given JOIN vehicles ON vehicles.id = given.vehicle
        JOIN owned_cars ON owned_cars.vin = vehicles.vin AND owned_cars.kind = 'fleet'
    ) AS whole GROUP BY ${KEY} HAVING sum(n) <> 0;`;
}

const rowsOf = (table: string, by: number): string =>
  `SELECT ${table}.vehicle, ${countColumns(table)}, ${by} AS n FROM ${table}`;

/** The fleet's part of a car that joins or leaves. The locks come in the order in which hubs store messages. */
function membership(changed: string, by: string): string {
  return `PERFORM 1 FROM cars WHERE vin IN (SELECT vin FROM ${changed}) ORDER BY vin FOR UPDATE;
    PERFORM 1 FROM vehicles WHERE vin IN (SELECT vin FROM ${changed}) ORDER BY vin FOR UPDATE;
    ${INSERT} SELECT ${changed}.owner, ${countColumns('records')}, ${by}count(*) FROM ${changed}
      JOIN vehicles ON vehicles.vin = ${changed}.vin JOIN records ON records.vehicle = vehicles.id
      WHERE ${changed}.kind = 'fleet' GROUP BY 1, 2, 3, 4, 5;`;
}

function trigger(
  name: string,
  table: string,
  events: readonly (readonly [event: string, tables: string, body: string])[],
) {
  return events
    .map(([event, tables, body]) =>
      `CREATE FUNCTION ${name}_on_${event.toLowerCase()}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN ${body} RETURN NULL; END $$;
  CREATE TRIGGER ${name} AFTER ${event} ON ${table} REFERENCING ${tables} FOR EACH STATEMENT
    EXECUTE FUNCTION ${name}_on_${event.toLowerCase()}();`.replace(
        `TRIGGER ${name}`,
        `TRIGGER ${name}_${event.toLowerCase()}`,
      ),
    )
    .join('\n');
}

const MERGE = `IF EXISTS (SELECT 1 FROM added WHERE id % ${MERGED_EVERY} = 0) THEN
    WITH gone AS (DELETE FROM record_counts WHERE id IN (
      SELECT record_counts.id FROM record_counts JOIN (SELECT DISTINCT ${KEY} FROM added WHERE id % ${MERGED_EVERY} = 0) AS chosen
        USING (${KEY}) FOR UPDATE OF record_counts SKIP LOCKED
    ) RETURNING *)
    ${INSERT} SELECT ${KEY}, sum(n) FROM gone GROUP BY ${KEY} HAVING sum(n) <> 0;
  END IF;`;

export function postgresCounts(types: SqlTypes): string {
  const [added, removed] = ['NEW TABLE AS added', 'OLD TABLE AS removed'];
  return `${countsTable(types, `id ${types.counted} PRIMARY KEY,`, '')}
  CREATE INDEX record_counts_by_day ON record_counts (fleet, collection, at_day, began_day);
  ${trigger('count_records', 'records', [
    ['INSERT', added, difference(rowsOf('added', 1))],
    ['UPDATE', `${removed} ${added}`, difference(`${rowsOf('added', 1)} UNION ALL ${rowsOf('removed', -1)}`)],
    ['DELETE', removed, difference(rowsOf('removed', -1))],
  ])}
  ${trigger('count_members', 'owned_cars', [
    ['INSERT', added, membership('added', '')],
    ['DELETE', removed, membership('removed', '-')],
  ])}
  CREATE FUNCTION merge_record_counts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${MERGE} RETURN NULL; END $$;
  CREATE TRIGGER merge_record_counts AFTER INSERT ON record_counts REFERENCING ${added} FOR EACH STATEMENT
    WHEN (pg_trigger_depth() < 2) EXECUTE FUNCTION merge_record_counts();`;
}
