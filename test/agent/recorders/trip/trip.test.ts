import { describe, expect, test } from 'vitest';
import { floor, full, KM, MINUTE, north, off, parked, profile, Rig, RULE, type Says, SECOND, T, trip } from './rig.ts';

describe('start and end of trips', () => {
  test('a trip begins at ignition on and ends at ignition off, with two messages', () => {
    const rig = new Rig();
    parked(rig, { ...full(0), ...off });
    rig.drive(T, 5, () => full(0));
    expect(rig.recorder.current).toBeUndefined();
    let at = rig.drive(T + 5 * SECOND, 301, full);
    expect(rig.recorder.current).toBe(rig.only.id);
    expect(rig.put).toHaveLength(1);
    expect(rig.only).toMatchObject({ startedAt: T, done: false, startMileage: 1000, duration: 12 });
    rig.drive(at, 1, () => off);
    at = rig.drive(at + SECOND, 299, () => off);
    expect(rig.recorder.current).toBe(rig.only.id);
    rig.drive(at, 5, () => off);
    expect(rig.recorder.current).toBeUndefined();
    expect(rig.put).toHaveLength(2);
    expect(rig.only).toMatchObject({
      done: true,
      startedAt: T,
      stoppedAt: T + 306 * SECOND,
      duration: 306,
      startMileage: 1000,
      distanceSource: 'Odometer',
      kinetic: { maxSpeed: 72 },
    });
    expect(rig.only.faults).toBeUndefined();
    expect(rig.only.distance).toBeCloseTo(KM, 1);
    expect(rig.only.kinetic?.avgSpeed).toBeCloseTo((KM / 306) * 3600, 0);
    expect(rig.only.startPosition?.geometry.coordinates).toEqual([1.44, 43.6]);
    expect(rig.only.stopPosition?.geometry.coordinates[1]).toBeCloseTo(43.6 + (KM * 1000) / 111_195, 5);
  });

  test('ignition on and off without movement is not a trip', () => {
    const rig = new Rig();
    parked(rig, off);
    const at = rig.drive(T, 600, () => ({ ...off, 'ignition.type': 'Start' }));
    rig.drive(at, 600, () => off);
    expect(rig.put).toEqual([]);
  });

  test('one faulty speed reading of a standing car is not a trip', () => {
    const rig = new Rig();
    parked(rig, off);
    rig.drive(T, 60, (s) => ({ 'ignition.type': 'Start', 'kinetic.speed': s === 30 ? 8 : 0 }));
    expect(rig.put).toEqual([]);
  });

  test.each([
    ['a red light with a stopped engine', 60, 1],
    ['a level crossing, ignition off', 299, 1],
    ['an errand', 302, 2],
  ])('a trip continues after a stop within the grace time, and a longer stop ends it: %s', (_name, seconds, trips) => {
    const rig = new Rig();
    parked(rig, off);
    let at = rig.drive(T, 301, full);
    at = rig.drive(at, seconds, () => off);
    at = rig.drive(at, 301, (s) => ({
      ...full(s),
      'odometer.mileage': floor(1000.04 + KM + trip.km(s), 0.1),
      ...north(0),
    }));
    rig.drive(at, 400, () => off);
    expect(rig.trips.map(({ done }) => done)).toEqual(new Array(trips).fill(true));
    expect(rig.trips[0]?.stoppedAt).toBe(trips === 1 ? at : T + 301 * SECOND);
    expect(rig.trips.reduce((sum, { distance }) => sum + (distance ?? 0), 0)).toBeCloseTo(2 * KM, 1);
  });

  test('an open trip can be queried at any time, without another record', () => {
    const rig = new Rig();
    rig.say({ 'ignition.type': 'Start', 'kinetic.speed': 0 }, T);
    rig.drive(T, 61, () => ({ 'kinetic.speed': 36 }));
    const put = rig.put.length;
    const { id } = rig.only;
    expect(rig.recorder.present(T + 61_000)).toMatchObject({ id, done: false, startedAt: T, duration: 61 });
    expect(rig.recorder.present(T + 61_000)?.distance).toBeCloseTo(0.6, 1);
    rig.drive(T + 61_000, 60, () => ({ 'kinetic.speed': 36 }));
    expect(rig.recorder.present(T + 121_000)).toMatchObject({ id, duration: 121, updatedAt: T + 121_000 });
    expect(rig.recorder.present(T + 121_000)?.distance).toBeCloseTo(1.2, 1);
    expect(rig.put).toHaveLength(put);
    // The trip ends at this ignition off unless the car drives on.
    rig.say({ 'ignition.type': 'Stop', 'kinetic.speed': 0 }, T + 121_000);
    rig.wait(T + 122_000, 60_000);
    expect(rig.recorder.present(T + 180_000)).toMatchObject({ done: false, duration: 121 });
    rig.wait(T + 182_000, RULE.grace);
    expect(rig.recorder.present(T + 180_000 + RULE.grace)).toBeUndefined();
    expect(rig.only).toMatchObject({ id, done: true, duration: 121 });
  });

  test('a trip stays open while the ignition is on, however long the car stands', () => {
    const rig = new Rig();
    parked(rig, off);
    let at = rig.drive(T, 301, full);
    at = rig.drive(at, 1800, () => ({ 'ignition.type': 'Start', 'kinetic.speed': 0 }));
    expect(rig.recorder.current).toBeDefined();
    rig.drive(at, 400, () => off);
    expect(rig.only.stoppedAt).toBe(at);
  });

  test('towing without odometer movement is not a trip, but a long odometer movement is', () => {
    const rig = new Rig();
    parked(rig, { ...off, ...north(0) });
    rig.drive(T, 600, (s) => ({ ...off, ...north(s * 20) }));
    expect(rig.put).toEqual([]);
    const at = rig.drive(T + 600 * SECOND, 301, (s) => ({ ...full(s), 'ignition.type': 'Stop' }));
    rig.drive(at, 400, () => off);
    expect(rig.only.distance).toBeCloseTo(KM, 1);
  });
});

describe('trips of cars with few signals', () => {
  const cases: [string, (s: number) => Says, Says, Partial<Record<string, unknown>>][] = [
    ['speed', (s) => ({ 'kinetic.speed': trip.speed(s) }), { 'kinetic.speed': 0 }, { distanceSource: 'Speed' }],
    [
      'odometer and ignition',
      (s) => ({ 'ignition.type': 'Start', 'odometer.mileage': floor(500.05 + trip.km(s), 0.1) }),
      { 'ignition.type': 'Stop', 'odometer.mileage': 500 },
      { distanceSource: 'Odometer', startMileage: 500 },
    ],
    ['positions', (s) => north(trip.km(s) * 1000), north(0), { distanceSource: 'Positions' }],
    [
      'speed and powertrain',
      (s) => ({ 'powertrain.status': 'Running', 'kinetic.speed': trip.speed(s) }),
      { 'powertrain.status': 'Stopped', 'kinetic.speed': 0 },
      { distanceSource: 'Speed' },
    ],
    [
      'speed and engine',
      (s) => ({ 'engines.Thermic.speed': 900, 'kinetic.speed': trip.speed(s) }),
      { 'engines.Thermic.speed': 0, 'kinetic.speed': 0 },
      { distanceSource: 'Speed' },
    ],
  ];

  test.each(cases)('a car that sends only %s has complete trips', (_name, drives, rests, expected) => {
    const rig = new Rig();
    parked(rig, rests);
    const at = rig.drive(T, 301, drives);
    const { 'odometer.mileage': _counted, 'lastPosition.latitude': _place, ...stands } = rests;
    rig.drive(at, 600, () => ({ ...stands, ...pick(drives(300), ['odometer.mileage', 'lastPosition.latitude']) }));
    expect(rig.only).toMatchObject({ done: true, ...expected });
    expect(rig.only.faults).toBeUndefined();
    expect(Math.abs((rig.only.distance ?? 0) - KM)).toBeLessThan(0.06);
    expect(rig.only.startedAt).toBeGreaterThanOrEqual(T);
    expect(rig.only.startedAt).toBeLessThan(T + 8 * SECOND);
    expect(Math.abs((rig.only.stoppedAt ?? 0) - at)).toBeLessThanOrEqual(8 * SECOND);
  });

  test('a car that sends only engine speed has a trip of the running time and unknown distance', () => {
    const rig = new Rig();
    parked(rig, { 'engines.Thermic.speed': 0 });
    const at = rig.drive(T, 600, (s) => ({ 'engines.Thermic.speed': 800 + (s % 7) }));
    rig.drive(at, 400, () => ({ 'engines.Thermic.speed': 0 }));
    expect(rig.only).toMatchObject({ done: true, startedAt: T, stoppedAt: at, duration: 600 });
    expect(rig.only).not.toHaveProperty('distance');
    expect(rig.only).not.toHaveProperty('distanceSource');
    expect(rig.only.faults).toBeUndefined();
  });

  test('a car that sends only a moving flag has a trip of unknown distance', () => {
    const rig = new Rig();
    parked(rig, { 'kinetic.moving': false });
    const at = rig.drive(T, 300, () => ({ 'kinetic.moving': true }));
    rig.drive(at, 400, () => ({ 'kinetic.moving': false }));
    expect(rig.only).toMatchObject({ done: true, startedAt: T, duration: 300 });
    expect(rig.only).not.toHaveProperty('distance');
    expect(rig.only.faults).toBeUndefined();
  });

  test('an odometer in whole kilometres and speed together are more accurate than a kilometre', () => {
    const rig = new Rig();
    const long = profile(110, 900);
    const counted = (s: number) => Math.floor(77_000.83 + long.km(s));
    parked(rig, { 'ignition.type': 'Stop', 'kinetic.speed': 0, 'odometer.mileage': 77_000 });
    const at = rig.drive(T, 901, (s) => ({
      'ignition.type': 'Start',
      'kinetic.speed': Math.round(long.speed(s) * 103) / 100,
      'odometer.mileage': counted(s),
    }));
    rig.drive(at, 400, () => ({ 'ignition.type': 'Stop', 'kinetic.speed': 0 }));
    expect(rig.only.distanceSource).toBe('Odometer');
    expect(Math.abs((rig.only.distance ?? 0) - long.km(900))).toBeLessThan(0.1);
  });

  test('an engine control unit that goes silent at rest means ignition off', () => {
    const rig = new Rig();
    parked(rig, { 'kinetic.speed': 0, 'engines.Thermic.speed': 0 });
    const at = rig.drive(T, 301, (s) => ({ 'kinetic.speed': trip.speed(s), 'engines.Thermic.speed': 900 + (s % 5) }));
    rig.wait(at, 6 * MINUTE);
    expect(rig.only.faults).toBeUndefined();
    expect(Math.abs((rig.only.stoppedAt ?? 0) - at)).toBeLessThanOrEqual(2 * SECOND);
  });
});

function pick(says: Says, paths: readonly string[]): Says {
  return Object.fromEntries(Object.entries(says).filter(([path]) => paths.includes(path)));
}
