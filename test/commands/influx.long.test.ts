/** As influx.engine.test.ts, with many kills. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { InfluxKills } from '../rig/influx-kills.ts';
import { requestFaults as faults } from '../rig/influx-relay.ts';
import { describePeer } from '../rig/peers.ts';

const FAULTS = 50;

describePeer('influxd', 'a car with an InfluxDB', () => {
  const kills = new InfluxKills();
  beforeAll(() => kills.start(), 60_000);
  afterAll(() => kills.remove());

  test(`InfluxDB has each reading of the car once, after ${FAULTS} kills and wrong answers`, async () => {
    for (let i = 0; i < FAULTS; i++) await kills.suffer(faults[i % faults.length] ?? 'nonsense');
    const { car, influx } = await kills.outcome();
    expect(influx).toEqual(car);
    expect(car.length).toBeGreaterThan(200);
  }, 1_800_000);
});
