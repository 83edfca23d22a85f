import { afterAll, beforeAll } from 'vitest';
import { hubAccessContract } from '../../contracts/hub-access-matrix.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubAccessContract('PostgreSQL', async () => ({ database: await server.create() }));
});
