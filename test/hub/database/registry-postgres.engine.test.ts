import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import { SqlMonitors, SqlRegistry, SqlRetention, SqlRollouts } from '../../../hub/database/index.ts';
import { PostgresCommandStore, PostgresDatabase, PostgresMessageStore } from '../../../hub/database/postgres/index.ts';
import { hubRegistryContract } from '../../contracts/hub-registry.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  const log = new MemoryLog();
  beforeAll(() => server.start());
  afterAll(() => server.remove());

  hubRegistryContract('PostgreSQL', async () => {
    const url = await server.create();
    const [database, other] = [await PostgresDatabase.open(url, log), await PostgresDatabase.open(url, log)];
    const [{ oid } = {}] = await server.execute(url, 'SELECT oid FROM pg_database WHERE datname = current_database()');
    return {
      store: new PostgresMessageStore(database, idOf, undefined, true),
      reader: new PostgresCommandStore(database),
      commands: new PostgresCommandStore(database),
      registry: new SqlRegistry(other),
      rollouts: new SqlRollouts(other),
      retention: new SqlRetention(other, 'FOR UPDATE'),
      monitors: new SqlMonitors(other),
      rows: async () => {
        const tables = await server.execute(
          url,
          "SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'vehicle'",
        );
        const counts = await Promise.all(
          tables.map(async ({ name }) => [name, await server.execute(url, `SELECT count(*)::int AS n FROM ${name}`)]),
        );
        return Object.fromEntries(
          (counts as [string, { n: number }[]][]).map(([name, [count]]) => [name, count?.n ?? 0]),
        );
      },
      files: async () => {
        await server.execute(url, 'ANALYZE', 'CHECKPOINT');
        const folder = join(server.files, String(oid));
        return Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
      },
      close: async () => {
        await database.close();
        await other.close();
      },
    };
  });
});
