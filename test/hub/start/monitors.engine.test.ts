import { afterAll, beforeAll } from 'vitest';
import { hubMonitorsContract } from '../../contracts/hub-monitors.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubMonitorsContract('PostgreSQL', async () => ({ database: await server.create() }));
});
