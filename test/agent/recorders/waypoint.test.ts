import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deviation, distance } from '../../../agent/model/position.ts';
import { WaypointRecorder } from '../../../agent/recorders/waypoint.ts';
import type { Waypoint } from '../../../protocol/schema/waypoint.ts';
import { recorderRig } from './rig.ts';

const T = Date.UTC(2026, 5, 1);
const rule = { interval: 60_000, distance: 1000, heading: 90, error: 10 };
const DEGREE = 111_195;
const START = { latitude: 48.85, longitude: 2.3 };

function drive() {
  const rig = recorderRig(['kinetic.speed', 'privacy.state', 'lastPosition.heading']);
  const make = () => new WaypointRecorder(rig.status, rig.records, rule);
  let recorder = make();
  rig.connect({
    name: 'latest',
    watches: recorder.watches,
    changed: (...change) => recorder.changed(...change),
    removed: (slot) => recorder.removed(slot),
    tick: () => undefined,
    flush: () => undefined,
  });
  let { latitude, longitude } = START;
  let at = T;
  const fixes: { latitude: number; longitude: number; at: number }[] = [];
  /** Drives for one second: metres north and east. */
  const go = (north: number, east: number, withSpeed = true) => {
    at += 1000;
    latitude += north / DEGREE;
    longitude += east / (DEGREE * Math.cos((latitude * Math.PI) / 180));
    if (withSpeed) rig.give('kinetic.speed', Math.hypot(north, east) * 3.6, at - 200);
    rig.locate(latitude, longitude, at - 100);
    const position = rig.status.contents().lastPosition?.geometry.coordinates;
    if (position !== undefined) fixes.push({ latitude: position[1], longitude: position[0], at: at - 100 });
    recorder.tick(at);
  };
  const wait = (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      at += 1000;
      recorder.tick(at);
    }
  };
  const points = (): Waypoint[] => {
    recorder.flush(at);
    return rig.put
      .filter(({ kind }) => kind === 'waypoint')
      .flatMap(({ body }) => (body as { points: Waypoint[] }).points);
  };
  const restart = () => {
    const state = structuredClone(recorder.state());
    recorder = make();
    recorder.restore(state);
  };
  return { ...rig, go, wait, points, restart, fixes, recorder: () => recorder, now: () => at };
}

describe('waypoint recorder', () => {
  test('a straight road has few waypoints, a turn one, and a stop one', () => {
    const { go, points } = drive();
    for (let second = 0; second < 40; second++) go(15, 0);
    for (let second = 0; second < 20; second++) go(0, 15);
    for (let second = 0; second < 60; second++) go(0, 0);
    const set = points();
    expect(set).toHaveLength(3);
    expect(distance(set[0] as Waypoint, START)).toBeLessThan(16);
    expect(distance(set[0] as Waypoint, set[1] as Waypoint)).toBeCloseTo(39 * 15, -1);
    expect(distance(set[1] as Waypoint, set[2] as Waypoint)).toBeCloseTo(20 * 15, -1);
  });

  test('a waypoint is recorded after a minute or a kilometre in any case', () => {
    const slow = drive();
    for (let second = 0; second < 150; second++) slow.go(5, 0);
    expect(slow.points().map(({ at }) => Math.round((at - T) / 1000))).toEqual([1, 61, 121, 150]);
    const fast = drive();
    for (let second = 0; second < 60; second++) fast.go(40, 0);
    const set = fast.points();
    expect(distance(set[0] as Waypoint, set[1] as Waypoint)).toBeCloseTo(1000, -2);
  });

  test('a standing car does not drift, with or without a speed', () => {
    const { go, points } = drive();
    for (let second = 0; second < 300; second++) go((second % 3) - 1, (second % 5) - 2, second % 2 === 0 && false);
    expect(points()).toHaveLength(1);
    const told = drive();
    told.go(0, 0);
    for (let second = 0; second < 100; second++) {
      told.give('kinetic.speed', 0, told.now() + 1);
      told.locate(START.latitude + (second % 7) * 1e-4, START.longitude, told.now() + 500);
      told.wait(1);
    }
    expect(told.points()).toHaveLength(1);
  });

  test('a tunnel is a gap, and so is time under privacy, which has no waypoints', () => {
    const { go, wait, give, locate, points, now } = drive();
    for (let second = 0; second < 20; second++) go(15, 0);
    wait(90);
    go(1300, 0, false);
    for (let second = 0; second < 20; second++) go(15, 0);
    give('privacy.state', 'Geolocation', now() + 1);
    locate(48.9, 2.4, now() + 2);
    wait(60);
    give('privacy.state', 'None', now() + 1);
    for (let second = 0; second < 20; second++) go(15, 0);
    const set = points();
    expect(set.filter(({ gap }) => gap === true)).toHaveLength(2);
    expect(set.every(({ latitude }) => latitude < 48.88)).toBe(true);
    expect(set.map(({ at }) => at)).toEqual(set.map(({ at }) => at).sort((a, b) => a - b));
  });

  test('a stolen car is recorded at its own intervals, moving or standing', () => {
    const { go, wait, points, recorder } = drive();
    go(0, 0);
    recorder().track({ running: 5000, shutdown: 60_000 });
    for (let second = 0; second < 20; second++) go(15, 0);
    go(0, 0);
    wait(180);
    const times = points().map(({ at }) => Math.round((at - T) / 1000));
    expect(times.filter((second) => second <= 21).length).toBeGreaterThanOrEqual(4);
    const parked = times.filter((second) => second > 22);
    expect(parked.length).toBeGreaterThanOrEqual(2);
    expect(parked.length).toBeLessThanOrEqual(4);
  });

  test('no fix is farther from the line between waypoints than the tolerance, on any route, with or without a restart', () => {
    const second = fc.tuple(fc.integer({ min: -30, max: 30 }), fc.integer({ min: -30, max: 30 }));
    fc.assert(
      fc.property(fc.array(second, { minLength: 2, maxLength: 120 }), fc.nat(120), (way, cut) => {
        const run = (cutAt: number) => {
          const car = drive();
          let [north, east] = [20, 0];
          for (const [n, [more, aside]] of way.entries()) {
            if (n === cutAt) car.restart();
            // The velocity of a car changes by a few metres per second each second.
            north = Math.max(-40, Math.min(40, north + more / 5));
            east = Math.max(-40, Math.min(40, east + aside / 5));
            car.go(north, east);
          }
          return { points: car.points(), fixes: car.fixes };
        };
        const { points, fixes } = run(-1);
        expect(run(cut % way.length).points).toEqual(points);
        for (const [n, to] of points.entries()) {
          const from = points[n - 1];
          if (from === undefined) continue;
          expect(to.at).toBeGreaterThan(from.at);
          for (const fix of fixes.filter(({ at }) => at > from.at && at < to.at)) {
            expect(deviation(from, to, fix)).toBeLessThanOrEqual(rule.error + 0.05);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('the line crosses the 180th meridian by the short route', () => {
    const west = { latitude: 0, longitude: 179.999 };
    const east = { latitude: 0, longitude: -179.999 };
    expect(deviation(west, east, { latitude: 0.0001, longitude: 180 })).toBeCloseTo(11.1, 0);
  });
});
