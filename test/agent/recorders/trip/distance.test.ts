import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  begin,
  forget,
  newMeter,
  readFix,
  readOdometer,
  readSpeed,
  sourceOf,
  way,
} from '../../../../agent/recorders/trip/distance.ts';

const BOUND = 60_000;

/** A drive at these speeds, km/h, one second each. The odometer has this resolution, the speed this relative error. */
function drive(speeds: readonly number[], resolution: number, begins: number, error = 1) {
  const meter = newMeter();
  let driven = 0;
  let shown = Math.floor(begins / resolution) * resolution;
  readSpeed(meter, 0, 0, BOUND);
  readOdometer(meter, shown, 0, BOUND);
  begin(meter);
  for (const [second, speed] of speeds.entries()) {
    driven += ((speed + (speeds[second - 1] ?? 0)) / 2) * (1 / 3600);
    const at = (second + 1) * 1000;
    readSpeed(meter, speed * error, at, BOUND);
    const shows = Math.floor((begins + driven) / resolution + 1e-9) * resolution;
    if (shows > shown) {
      readOdometer(meter, shows, at, BOUND);
      shown = shows;
    }
  }
  return { meter, driven };
}

const speeds = fc
  .array(fc.integer({ min: 0, max: 130 }), { minLength: 10, maxLength: 400 })
  .map((some) => some.flatMap((speed) => new Array(10).fill(speed)));

describe('distance', () => {
  test('a coarse odometer and a speed with 5 % error together are more accurate than either', () => {
    fc.assert(
      fc.property(
        speeds,
        fc.constantFrom(0.1, 1, 1.609344),
        fc.double({ min: 0, max: 10, noNaN: true }),
        (some, resolution, begins) => {
          const { meter, driven } = drive(some, resolution, begins, 1.05);
          // Distance measured by speed is at most one unit before the first odometer step and one after the last.
          const bySpeed = Math.min(driven, 2 * resolution);
          // The odometer is read once a second, so it may have stepped up to a second before.
          expect(Math.abs(way(meter) - driven)).toBeLessThanOrEqual(0.05 * bySpeed + 2 * (130 / 3600) + 1e-6);
          if (driven > 6 * resolution) expect(sourceOf(meter)).toBe('Odometer');
        },
      ),
      { numRuns: 200 },
    );
  });

  test('the distance is never negative and never decreases, whatever the odometer reads', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 10_000_000 }), fc.integer({ min: 0, max: 120_000 }))),
        (readings) => {
          const meter = newMeter();
          begin(meter);
          let at = 0;
          let before = 0;
          for (const [tenths, span] of readings) {
            at += span;
            readOdometer(meter, tenths / 10, at, BOUND);
            expect(way(meter)).toBeGreaterThanOrEqual(before);
            before = way(meter);
          }
          // 70 m/s, and one step of a coarse odometer at each reading.
          expect(before).toBeLessThanOrEqual((at * 70) / 1e6 + 2 * readings.length + 1e-6);
        },
      ),
    );
  });

  test.each([
    ['rolls over', [999_999.8, 999_999.9, 0, 0.1]],
    ['is replaced', [120_000, 120_000.1, 56.2, 56.3]],
    ['has one faulty reading', [500, 500.1, 919_000, 500.2]],
  ])('the speed bridges an odometer that %s', (_name, shown) => {
    const meter = newMeter();
    readSpeed(meter, 72, 0, BOUND);
    begin(meter);
    for (const [index, value] of shown.entries()) {
      for (let second = 0; second < 5; second++) readSpeed(meter, 72, index * 5000 + second * 1000, BOUND);
      readOdometer(meter, value, index * 5000 + 4000, BOUND);
    }
    expect(way(meter)).toBeCloseTo(0.38, 1);
  });

  test('the odometer bridges its own gaps, but not private distance', () => {
    const meter = newMeter();
    readOdometer(meter, 100, 0, BOUND);
    readSpeed(meter, 90, 0, BOUND);
    begin(meter);
    readOdometer(meter, 110, 600_000, BOUND);
    expect(way(meter)).toBe(10);
    forget(meter, 'odometer');
    forget(meter, 'speed');
    readOdometer(meter, 130, 1_200_000, BOUND);
    expect(way(meter)).toBe(10);
  });

  test('gaps in the speed are bridged up to the limit', () => {
    const meter = newMeter();
    readSpeed(meter, 60, 0, BOUND);
    begin(meter);
    expect(readSpeed(meter, 60, 60_000, BOUND)).toBeCloseTo(1, 6);
    expect(readSpeed(meter, 60, 120_001, BOUND)).toBe(0);
    expect(sourceOf(meter)).toBe('Speed');
  });

  test('positions count where there is no speed, but drift and jumps do not', () => {
    const meter = newMeter();
    const at = (metres: number) => ({ latitude: 45 + metres / 111_195, longitude: 3 });
    readFix(meter, at(0), 0);
    begin(meter);
    for (let second = 1; second <= 100; second++) readFix(meter, at(second % 2 === 0 ? 12 : -12), second * 1000);
    expect(way(meter)).toBe(0);
    expect(readFix(meter, at(50_000), 101_000)).toEqual({ moved: false, stayed: false, gone: 0 });
    for (let second = 1; second <= 100; second++) readFix(meter, at(50_000 + second * 20), (101 + second) * 1000);
    expect(way(meter)).toBeCloseTo(2, 1);
    expect(sourceOf(meter)).toBe('Positions');
    readSpeed(meter, 72, 202_000, BOUND);
    readSpeed(meter, 72, 203_000, BOUND);
    expect(readFix(meter, at(52_040), 203_000)).toMatchObject({ moved: true, gone: 0 });
  });
});
