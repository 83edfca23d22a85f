import { afterAll, beforeAll } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { onPostgres } from '../../assembly/hub-database.ts';
import { hubClocksContract } from '../contracts/hub-clocks.ts';
import { MemoryLog } from '../rig/log.ts';
import { describePeer } from '../rig/peers.ts';
import { PostgresRig } from '../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL with wrong clocks', () => {
  const server = new PostgresRig();
  beforeAll(() => server.start());
  afterAll(() => server.remove());
  hubClocksContract('PostgreSQL', async () =>
    onPostgres(await server.create(), { limit: 100, clock: new SystemClock(), log: new MemoryLog() }),
  );
});
