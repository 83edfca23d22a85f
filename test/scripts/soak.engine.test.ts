import { expect, test } from 'vitest';
import { runSoak } from '../../scripts/scenarios/failing-way.ts';
import { describePeer } from '../rig/peers.ts';

describePeer('mosquitto', 'a soak of minutes', () => {
  test('every number arrives or is in a gap record over a link that fails repeatedly', async () => {
    const { account, link, troubles, faults } = await runSoak({
      from: '06:45:00',
      length: 12 * 60_000,
      speed: 60,
      every: 40_000,
      outage: { at: 240_000, lasts: 200_000 },
      limit: 3000,
      seed: 1,
    });
    expect(account.faults).toEqual([]);
    expect(faults).toBe(0);
    expect(new Set(troubles.map(({ kind }) => kind))).toEqual(new Set(['cut', 'stall', 'tunnel', 'restart']));
    expect(link.ups).toBeGreaterThan(3);
    expect(account.gaps.length).toBeGreaterThan(0);
    expect(account.missing).toBe(account.gaps.reduce((sum, { count }) => sum + count, 0));
    expect(account.received).toBe(account.published - account.missing);
    expect(account.received).toBeGreaterThan(50);
  });
});
