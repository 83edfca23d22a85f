import { afterAll, beforeAll } from 'vitest';
import { hubRolloutContract } from '../../contracts/hub-rollout.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL that keeps roll-outs', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubRolloutContract('PostgreSQL', async () => ({ database: await server.create() }));
});
