import { describe, expect, test } from 'vitest';
import { Status } from '../../agent/status.ts';
import { type Slot, slotByPath } from '../../protocol/slots.ts';

const T = Date.UTC(2026, 0, 1);
const speed = slotByPath.get('kinetic.speed') as Slot;
const plugged = slotByPath.get('energies.Electric.extension.electric.charging.plugged') as Slot;

describe('how old a value may be', () => {
  test('with a time-out it is fresh and current until then, and neither when the clock was set back', () => {
    const status = new Status();
    status.expireAfter(speed, 5_000);
    expect(status.current(speed, T)).toBe(false);
    status.write(speed, 0, T);
    for (const [now, so] of [
      [T, true],
      [T + 5_000, true],
      [T + 5_001, false],
      [T - 1_001, false],
    ] as const) {
      expect([status.fresh(speed, now), status.current(speed, now)]).toEqual([so, so]);
    }
  });

  test('what an earlier run read is nothing to act upon before it is read again', () => {
    const earlier = new Status();
    earlier.write(plugged, true, T);
    const status = new Status();
    status.restore(earlier.contents());
    expect(status.value(plugged)).toBe(true);
    expect([status.fresh(plugged, T + 1_000), status.current(plugged, T + 1_000)]).toEqual([true, false]);
    status.seen(plugged, T + 2_000);
    expect(status.current(plugged, T + 3_000)).toBe(true);
  });
});
