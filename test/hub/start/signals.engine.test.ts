import { afterAll, beforeAll } from 'vitest';
import { hubSignalsContract } from '../../contracts/hub-signals.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubSignalsContract('PostgreSQL', async () => ({ database: await server.create() }));
});
