import { afterAll, beforeAll } from 'vitest';
import { hubCarMonitorsContract } from '../../contracts/hub-car-monitors.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubCarMonitorsContract('PostgreSQL', async () => ({ database: await server.create() }));
});
