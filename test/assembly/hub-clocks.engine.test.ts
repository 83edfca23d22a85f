import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { onPostgres } from '../../assembly/hub-database.ts';
import { hubClocksContract } from '../contracts/hub-clocks.ts';
import { MemoryLog } from '../rig/log.ts';
import { describePeer } from '../rig/peers.ts';
import { PostgresRig } from '../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL with wrong clocks', () => {
  const server = new PostgresRig();
  const data = mkdtempSync(join(tmpdir(), 'vigie-hub-clocks-'));
  beforeAll(() => server.start());
  afterAll(async () => {
    await server.remove();
    rmSync(data, { recursive: true, force: true });
  });
  hubClocksContract('PostgreSQL', async () => {
    const database = await server.create();
    const open = () => onPostgres(database, { limit: 100, clock: new SystemClock(), log: new MemoryLog() });
    return { options: { data, database }, open };
  });
});
