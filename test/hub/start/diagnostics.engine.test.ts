import { afterAll, beforeAll } from 'vitest';
import { hubDiagnosticsContract } from '../../contracts/hub-diagnostics.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubDiagnosticsContract('PostgreSQL', async () => ({ database: await server.create() }));
});
