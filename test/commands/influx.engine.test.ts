/** `exits.influx` of vigie.yaml: a car and a real InfluxDB, of which one or the other is killed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { InfluxClient } from '../../adapters/exits/influx.ts';
import { InfluxRig } from '../rig/influx.ts';
import { InfluxKills } from '../rig/influx-kills.ts';
import { requestFaults as faults } from '../rig/influx-relay.ts';
import { describePeer } from '../rig/peers.ts';

describePeer('influxd', 'a car with an InfluxDB', () => {
  const kills = new InfluxKills();
  beforeAll(() => kills.start(), 60_000);
  afterAll(() => kills.remove());

  test('a test of the connection writes nothing, and fails without the database', async () => {
    const influx = new InfluxRig();
    await influx.start();
    try {
      await influx.query('CREATE DATABASE cars');
      const clients = ['cars', 'boats'].map((database) => new InfluxClient({ url: influx.url, target: { database } }));
      const results = await Promise.allSettled(clients.map((client) => client.test()));
      expect(results).toMatchObject([
        { status: 'fulfilled' },
        { status: 'rejected', reason: { message: expect.stringContaining('database not found') } },
      ]);
      expect(await influx.query('SHOW MEASUREMENTS', 'cars')).not.toHaveProperty('series');
      await Promise.all(clients.map((client) => client.close()));
    } finally {
      await influx.remove();
    }
  }, 60_000);

  test('InfluxDB has each reading of the car once, after kills of both at any point of a request', async () => {
    for (const fault of faults) await kills.suffer(fault);
    const { car, influx } = await kills.outcome();
    expect(influx).toEqual(car);
    expect(car.length).toBeGreaterThan(20);
  }, 300_000);
});
