import { afterAll, beforeAll } from 'vitest';
import { hubTopicsContract } from '../../contracts/hub-topics.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { describePeer, describePeers } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('mosquitto', 'a hub without engines of its own', () => {
  hubTopicsContract('SQLite and the embedded broker', async () => ({}));
});

describePeers(['mosquitto', 'initdb'], 'a hub with engines of its own', () => {
  const [broker, server] = [new MosquittoRig(), new PostgresRig()];
  beforeAll(async () => {
    await Promise.all([broker.start(), server.start()]);
  });
  afterAll(async () => {
    await broker.remove();
    await server.remove();
  });
  hubTopicsContract('PostgreSQL and Mosquitto', async () => ({
    database: await server.create(),
    broker: { address: { url: broker.url }, group: 'topics', receiveMaximum: 100 },
  }));
});
