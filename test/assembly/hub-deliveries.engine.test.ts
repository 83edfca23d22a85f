import { afterAll, beforeAll } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { onPostgres } from '../../assembly/hub-database.ts';
import { hubDeliveriesContract } from '../contracts/hub-deliveries.ts';
import { hubReceiversContract } from '../contracts/hub-receivers.ts';
import { MemoryLog } from '../rig/log.ts';
import { describePeer } from '../rig/peers.ts';
import { PostgresRig } from '../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubDeliveriesContract('PostgreSQL', async () => ({ database: await server.create() }));
  hubReceiversContract('PostgreSQL', async () => {
    const url = await server.create();
    return () => onPostgres(url, { limit: 5_000, clock: new SystemClock(), log: new MemoryLog() });
  });
});
