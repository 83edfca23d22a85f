import { afterAll, beforeAll } from 'vitest';
import { hubForgetContract } from '../../contracts/hub-forget.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { describePeers } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeers(['mosquitto', 'initdb'], 'a hub at engines of its own', () => {
  const server = new PostgresRig();
  beforeAll(() => server.start());
  afterAll(() => server.remove());
  const mosquitto = async () => {
    const broker = new MosquittoRig();
    await broker.start();
    return { broker, remove: () => broker.remove() };
  };

  hubForgetContract('PostgreSQL and Mosquitto', async () => ({
    ...(await mosquitto()),
    database: await server.create(),
  }));
  hubForgetContract('SQLite and Mosquitto', mosquitto);
  hubForgetContract('PostgreSQL and the embedded broker', async () => ({ database: await server.create() }));
});
