import { afterAll, beforeAll } from 'vitest';
import { hubLivesContract } from '../../contracts/hub-lives.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL with lives of cars', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubLivesContract('PostgreSQL', async () => {
    const database = await server.create();
    return {
      options: { database },
      payloads: async () =>
        (await server.execute(database, 'SELECT payload FROM messages')).map(({ payload }) => payload as Uint8Array),
    };
  });
});
