/** How PostgreSQL executes the statements of a hub. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { onPostgres } from '../../../assembly/hub-database.ts';
import { useEveryQuery, withoutReason } from '../../contracts/hub-queries.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { plainSql, sqlIn } from '../../rig/sql-sources.ts';

const shared = fileURLToPath(new URL('../../../adapters/database/', import.meta.url));
/** Tables, which are made when the database is opened; and what a hub on SQLite has in their place. */
const OTHERS: ReadonlySet<string> = new Set([
  ...['format.ts', 'schema.ts', 'sqlite.ts', 'message-store.ts', 'command-store.ts', 'reported-monitors.ts'],
]);

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(() => server.start());
  afterAll(() => server.remove());

  test('no statement of a hub on PostgreSQL reads a growing table whole, and the test knows every statement of the sources', async () => {
    const url = await server.create();
    const clock = new SystemClock();
    const open = () => onPostgres(url, { limit: 2, clock, log: new MemoryLog() });
    const asked = new Map<string, readonly unknown[]>();
    const { query } = pg.Client.prototype;
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...words: unknown[]) {
      const [sql, values] = words;
      if (typeof sql === 'string') asked.set(sql, Array.isArray(values) ? values : []);
      return (query as (...words: unknown[]) => unknown).apply(this, words);
    } as never);
    const hub = await open();
    await useEveryQuery(hub);
    await hub.close();
    vi.restoreAllMocks();

    const own = readdirSync(join(shared, 'postgres')).map((name) => join('postgres', name));
    const files = [...readdirSync(shared), ...own].filter((name) => name.endsWith('.ts') && !isOther(name));
    const all = [...asked.keys()].map(plainSql).join('\n');
    const unknown = sqlIn(files.map((name) => join(shared, name))).filter(({ piece }) => !all.includes(piece));
    // To be called in useEveryQuery (test/contracts/hub-queries.ts).
    expect(unknown.filter(({ piece }) => !piece.includes('unixepoch'))).toEqual([]);

    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // A short table is read whole unless no index would do.
    await client.query('SET enable_seqscan = off');
    const { unexpected } = await withoutReason(
      [...asked.keys()].filter((sql) => /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b[^;]*$/.test(sql)),
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
});

function isOther(name: string): boolean {
  return OTHERS.has(name.replace('postgres/', '')) && !/postgres\/(message|command)-store/.test(name);
}
