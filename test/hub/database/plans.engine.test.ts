/** Execution plans of PostgreSQL for all statements of a hub. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { idOf } from '../../../assembly/view.ts';
import { SqlReader } from '../../../hub/database/index.ts';
import { PostgresDatabase, PostgresMessageStore } from '../../../hub/database/postgres/index.ts';
import { hubClock, onPostgres } from '../../../hub/start/database.ts';
import { fleetVin } from '../../../scripts/fleet/car.ts';
import { FEW, useEveryQuery, withoutReason } from '../../contracts/hub-queries.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { plainSql, sqlIn } from '../../rig/sql-sources.ts';
import { NOON, received } from '../messages.ts';

const shared = fileURLToPath(new URL('../../../hub/database/', import.meta.url));
/** Statements that create or upgrade tables when the database is opened, and those that only SQLite executes. */
const OTHERS: ReadonlySet<string> = new Set([
  'format.ts',
  'schema.ts',
  'reading-tables.ts',
  'upgrade.ts',
  'sqlite.ts',
  'message-store.ts',
  'command-store.ts',
  'reported-monitors.ts',
  'record-counts.ts',
]);

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(() => server.start());
  afterAll(() => server.remove());

  test('no PostgreSQL statement scans a growing table, and the test covers every statement in the sources', async () => {
    const url = await server.create();
    const clock = new SystemClock();
    const open = () => onPostgres(url, { limit: 2, clock, log: new MemoryLog(), bounds: FEW, readings: 30 });
    const asked = new Map<string, readonly unknown[]>();
    const { query } = pg.Client.prototype;
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...words: unknown[]) {
      const [sql, values] = words;
      if (typeof sql === 'string') asked.set(sql, Array.isArray(values) ? values : []);
      return (query as (...words: unknown[]) => unknown).apply(this, words);
    } as never);
    const hub = await open();
    await hubClock(url, clock);
    await useEveryQuery(hub);
    await hub.close();
    vi.restoreAllMocks();

    const own = readdirSync(join(shared, 'postgres')).map((name) => join('postgres', name));
    const files = [...readdirSync(shared), ...own].filter((name) => name.endsWith('.ts') && !isOther(name));
    const all = [...asked.keys()].map(plainSql).join('\n');
    const unknown = sqlIn(files.map((name) => join(shared, name))).filter(({ piece }) => !all.includes(piece));
    // If this fails, call the statement in useEveryQuery (test/contracts/hub-queries.ts).
    const isOfSqlite = /unixepoch|rowid|max\(id\)|^SELECT id FROM messages WHERE kind/;
    expect(unknown.filter(({ piece }) => !isOfSqlite.test(piece))).toEqual([]);

    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // With this setting, PostgreSQL scans a short table only if no index applies.
    await client.query('SET enable_seqscan = off');
    const { unexpected } = await withoutReason(
      // Partitions by time are read as a whole when they are made or dropped.
      [...asked.keys()].filter(
        (sql) => /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b[^;]*$/.test(sql) && !/_\d{4}_\d\d_\d\d\b/.test(sql),
      ),
      async (sql) => {
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${sql}`, [
          ...(asked.get(sql) ?? []),
        ]);
        return rows.flatMap((row) => /Seq Scan on (\w+)/.exec(row['QUERY PLAN'])?.[1] ?? []);
      },
    );
    await client.end();
    expect(unexpected).toEqual([]);
  });

  test('with PostgreSQL’s own statistics, parts of a series are read by key, without neighbouring messages', async () => {
    const [cars, pieces] = [10, 1_000];
    const database = await PostgresDatabase.open(await server.create(), new MemoryLog());
    const store = new PostgresMessageStore(database, idOf);
    for (let block = 0; block < pieces; block += 100) {
      const messages = Array.from({ length: 100 * cars }, (_, index) => {
        const [car, seq] = [index % cars, block + Math.floor(index / cars)];
        const at = NOON + seq * 60_000 + car;
        const points = [{ at, latitude: 48.85, longitude: 2.3, type: 'Acquire' as const }];
        return received('waypoint', { points }, { vin: fleetVin(car), seq, at });
      });
      await store.save(messages, []);
    }
    await database.select('ANALYZE');
    const asked: [sql: string, values: (string | number)[]][] = [];
    const reader = new SqlReader((sql, ...values) => {
      asked.push([sql, values]);
      return database.select(sql, ...values);
    });
    const vin = fleetVin(3);
    await reader.record(vin, 'waypoint', '1-64');
    await reader.lastRecord(vin, 'waypoint');
    const listed = reader.records(vin, 'waypoint', NOON);
    for (let count = 0; count <= 200; count++) await listed.next();
    await listed.return();
    const keys = reader.recordKeys(vin, 'waypoint');
    await keys.nth({}, 99, true);
    await keys.read({ from: { at: NOON + 30_000_000, id: '' } }, 60);
    const range = { from: { at: NOON + 30_000_000, id: '' }, before: { at: NOON + 36_000_000, id: '' } };
    await keys.survey({ range, size: 20 });

    const read: number[] = [];
    for (const [sql, values] of asked) {
      const [row = {}] = await database.select(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, ...values);
      const [{ Plan }] = row['QUERY PLAN'] as unknown as [{ Plan: PlanStep }];
      read.push(rowsRead(Plan, 'messages'));
    }
    await database.close();
    // Sorting by id within one time reads one or more rows past the last.
    expect(read.map((rows) => Math.floor(rows / 20) * 20)).toEqual([0, 0, 200, 200, 100, 60, 120]);
  });
});

interface PlanStep {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanStep[];
}

/** Number of rows of a table with all its partitions that a plan has read. */
function rowsRead(step: PlanStep, table: string): number {
  const { Plans = [], 'Actual Rows': rows, 'Actual Loops': loops, 'Rows Removed by Filter': removed = 0 } = step;
  const own = step['Relation Name']?.startsWith(table) === true ? (rows + removed) * loops : 0;
  return Plans.reduce((sum, one) => sum + rowsRead(one, table), own);
}

function isOther(name: string): boolean {
  return OTHERS.has(name.replace('postgres/', '')) && !/postgres\/(message|command)-store/.test(name);
}
