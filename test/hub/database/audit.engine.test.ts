import { afterAll, beforeAll } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { PostgresDatabase } from '../../../hub/database/postgres/index.ts';
import { onPostgres } from '../../../hub/start/database.ts';
import { hubAuditContract } from '../../contracts/hub-audit.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(() => server.start());
  afterAll(() => server.remove());

  hubAuditContract('PostgreSQL', async () => {
    const url = await server.create();
    const open = () => onPostgres(url, { limit: 100, clock: new SystemClock(), log: new MemoryLog() });
    const [hub, other] = [await open(), await open()];
    const raw = await PostgresDatabase.open(url, new MemoryLog());
    return {
      ...{ hub, other, raw },
      reopen: async () => (await PostgresDatabase.open(url, new MemoryLog())).close(),
      close: async () => {
        for (const one of [raw, other, hub]) await one.close();
      },
    };
  });
});
