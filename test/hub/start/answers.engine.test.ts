import { afterAll, beforeAll } from 'vitest';
import { hubAnswersContract } from '../../contracts/hub-answers.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubAnswersContract('PostgreSQL', async () => ({ database: await server.create() }));
});
