import { expect, test } from 'vitest';
import { runFleet } from '../../scripts/scenarios/fleet.ts';
import { MosquittoRig } from '../rig/mosquitto.ts';
import { describePeer } from '../rig/peers.ts';

describePeer('mosquitto', 'a small fleet', () => {
  test('publishes its drive over real connections, and nothing is lost', async () => {
    const broker = new MosquittoRig({ settings: ['max_queued_messages 0'] });
    await broker.start();
    const report = await runFleet({ url: broker.url, group: broker.pid, cars: 20, minutes: 1, speed: 60 });
    await broker.remove();
    expect(report.published).toBeGreaterThan(20 * 10);
    expect(report).toMatchObject({ acknowledged: report.published, received: report.published, lost: 0 });
    expect(report.connected.resident).toBeGreaterThan(0);
    expect(report.bytes).toBeGreaterThan(report.acknowledgedBytes);
  });
});
