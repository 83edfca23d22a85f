import { afterAll, beforeAll } from 'vitest';
import { hubExportContract } from '../../contracts/hub-export.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubExportContract('PostgreSQL', async () => ({ database: await server.create() }));
});
