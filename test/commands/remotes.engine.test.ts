/** Every kind of command succeeds through Mosquitto. */
import { afterAll, beforeAll, test } from 'vitest';
import type { BrokerRig } from '../rig/broker.ts';
import { MosquittoRig } from '../rig/mosquitto.ts';
import { describePeer } from '../rig/peers.ts';
import { cases, reached } from './remote-outcomes.ts';

describePeer('mosquitto', 'through Mosquitto', () => {
  let broker: BrokerRig;
  beforeAll(async () => {
    broker = new MosquittoRig();
    await broker.start();
  });
  afterAll(() => broker.remove());

  test.each(cases.filter(([, outcome]) => outcome === 'Success'))(
    '%s ends with %s through Mosquitto',
    (type, outcome, way) => reached(broker.url, type, outcome, way),
  );
});
