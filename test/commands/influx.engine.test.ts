/** `exits.influx` of vigie.yaml: a car and a real InfluxDB, of which one or the other is killed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faults, InfluxKills } from '../rig/influx-kills.ts';
import { describePeer } from '../rig/peers.ts';

describePeer('influxd', 'a car with an InfluxDB', () => {
  const kills = new InfluxKills();
  beforeAll(() => kills.start(), 60_000);
  afterAll(() => kills.remove());

  test('InfluxDB has each reading of the car once, after kills of both at any point of a request', async () => {
    for (const fault of faults) await kills.suffer(fault);
    const { car, influx } = await kills.outcome();
    expect(influx).toEqual(car);
    expect(car.length).toBeGreaterThan(20);
  }, 300_000);
});
