import { describe, expect, test } from 'vitest';
import { Status } from '../../../agent/model/status.ts';
import { type Slot, slotByPath } from '../../../protocol/slots.ts';

const T = Date.UTC(2026, 0, 1);
const speed = slotByPath.get('kinetic.speed') as Slot;
const plugged = slotByPath.get('energies.Electric.extension.electric.charging.plugged') as Slot;

describe('age of values', () => {
  test('a value with a time-out is fresh and current until then, and neither after the clock was set back', () => {
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

  test('a value from an earlier run may not trigger actions until it is read again', () => {
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

test('an observer that names its slots is notified only of their changes', () => {
  const status = new Status();
  const told: string[] = [];
  status.observe({ watches: [speed], changed: ({ path }, value) => void told.push(`${path} ${value}`) });
  status.write(plugged, true, T);
  status.write(speed, 50, T);
  expect(told).toEqual(['kinetic.speed 50']);
});

test('an observer that has left is not notified any more', () => {
  const status = new Status();
  const told: string[] = [];
  const observer = (name: string) => ({
    changed: () => void told.push(`${name} changed`),
    removed: () => void told.push(`${name} removed`),
    settled: () => void told.push(`${name} settled`),
  });
  const [leaves, stays] = [observer('leaves'), observer('stays')];
  status.observe(leaves);
  status.observe(stays);
  status.unobserve(leaves);
  status.write(speed, 50, T);
  status.settle(T);
  status.remove(speed, T);
  expect(told).toEqual(['stays changed', 'stays settled', 'stays removed']);
});
