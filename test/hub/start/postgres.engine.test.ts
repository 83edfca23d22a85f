import { afterAll, beforeAll } from 'vitest';
import { hubInterfaceContract } from '../../contracts/hub-interface.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubInterfaceContract('PostgreSQL', async () => ({ database: await server.create() }));
});
