/** Fifteen minutes of a drive with all exits, of which each receiver, the cloud and the car itself fail once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ExitOutages } from '../rig/exit-outages.ts';
import { describePeers } from '../rig/peers.ts';
import { topicFaults } from '../rig/plain-topics.ts';

describePeers(['mosquitto', 'influxd'], 'a car with all exits', () => {
  const drive = new ExitOutages(4);
  beforeAll(() => drive.start(), 60_000);
  afterAll(() => drive.remove());

  test('InfluxDB and files have each reading once, and topics the newest values, after outages of all', async () => {
    const { broker, influx, cloud } = drive;
    await drive.drivenFor(2.5);
    await broker.kill();
    await drive.drivenFor(4);
    await broker.start();
    await drive.drivenFor(5.5);
    await influx.kill();
    await drive.drivenFor(7);
    await influx.start();
    await drive.drivenFor(8.5);
    await drive.cutPower();
    await drive.drivenFor(9);
    await drive.powerOn();
    await drive.drivenFor(11);
    await cloud.kill();
    await drive.drivenFor(12.5);
    await cloud.start();
    await drive.drivenFor(15);
    await drive.park();
    const topics = topicFaults(drive.history, drive.messages);
    const planner = topicFaults(drive.history, drive.planned);
    const { car, ...receivers } = await drive.outcome();
    const rows = Object.entries({ car, ...receivers }).map(([receiver, readings]) => {
      const twice = readings.length - new Set(readings).size;
      return { receiver, readings: readings.length, twice, missing: less(car, readings), foreign: less(readings, car) };
    });
    const faults = Object.entries({ topics, planner });
    const sent = { topics: drive.messages.length, planner: drive.planned.length };
    console.table(rows.map((row) => ({ ...row, missing: row.missing.length, foreign: row.foreign.length })));
    console.table(
      faults.map(([receiver, { unknown, older }], i) => {
        return { receiver, messages: Object.values(sent)[i], unknown: unknown.length, older: older.length };
      }),
    );
    for (const row of rows) expect(row).toMatchObject({ readings: car.length, twice: 0, missing: [], foreign: [] });
    expect(car.length).toBeGreaterThan(4_000);
    expect(drive.stale()).toEqual([]);
    for (const fault of faults) expect(fault).toEqual([fault[0], { unknown: [], older: [] }]);
    expect(sent.topics).toBeGreaterThan(3_000);
    expect(sent.planner).toBeGreaterThan(200);
  }, 600_000);
});

/** Returns the items of `all` that `others` lacks. */
function less(all: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return all.filter((one) => !known.has(one));
}
