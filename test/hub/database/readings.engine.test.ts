import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onPostgres } from '../../../hub/start/database.ts';
import { DAY } from '../../../protocol/calendar.ts';
import { hubReadingsContract } from '../../contracts/hub-readings.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { NOON } from '../messages.ts';

describePeer('initdb', 'PostgreSQL with readings', () => {
  const server = new PostgresRig();
  beforeAll(() => server.start());
  afterAll(() => server.remove());

  test('the role of docs/exits.md reads the views and nothing else', async () => {
    const url = await server.create();
    await (await onPostgres(url, { limit: 100, clock: new VirtualClock(NOON), log: new MemoryLog() })).close();
    const page = readFileSync(new URL('../../../docs/exits.md', import.meta.url), 'utf8');
    const [, statements = ''] = /```sql\n(CREATE ROLE reports .*?)```/s.exec(page) ?? [];
    await server.execute(url, statements);
    const own = url.replace('vigie@', 'reports@');
    for (const view of ['vehicle', 'latest', 'trip', 'reading']) {
      expect(await server.execute(own, `SELECT * FROM ${view}`)).toEqual([]);
    }
    for (const table of ['messages', 'readings', 'tokens', 'group_keys']) {
      await expect(server.execute(own, `SELECT * FROM ${table}`)).rejects.toMatchObject({ code: '42501' });
    }
  });

  hubReadingsContract('PostgreSQL', async () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-readings-'));
    const database = await server.create();
    return {
      options: { data, database },
      open: async (readings) => {
        // Partitions for the days before, as a hub that ran then has made them.
        for (const now of [NOON - 2 * DAY, NOON]) {
          const opened = await onPostgres(database, {
            limit: 100,
            clock: new VirtualClock(now),
            log: new MemoryLog(),
            readings,
          });
          if (now === NOON) return opened;
          await opened.close();
        }
        throw new Error('unreachable');
      },
      sql: (query) => server.execute(database, query),
      remove: async () => rmSync(data, { recursive: true }),
    };
  });
});
