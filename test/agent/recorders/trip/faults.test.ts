import { describe, expect, test } from 'vitest';
import { TripRecorder } from '../../../../agent/recorders/trip.ts';
import { recorderRig } from '../rig.ts';
import { floor, full, KM, MINUTE, north, off, parked, Rig, RULE, type Says, SECOND, T, trip } from './rig.ts';

describe('faults of trips', () => {
  test('if the agent starts while the car drives, the trip is Unstarted', () => {
    const rig = new Rig();
    rig.drive(T, 150, (s) => full(s + 100));
    rig.drive(T + 150 * SECOND, 400, () => off);
    expect(rig.only.faults).toEqual([{ fault: 'Unstarted', cause: 'Connection' }]);
  });

  test('if the agent starts at rest, or readings resume at rest, the trip has no fault', () => {
    const rig = new Rig();
    let at = rig.drive(T, 301, full);
    at = rig.drive(at, 400, () => off);
    at = rig.wait(at, 8 * 60 * MINUTE);
    at = rig.drive(at, 301, (s) => ({ ...full(s), 'odometer.mileage': floor(1000.04 + KM + trip.km(s), 0.1) }));
    rig.drive(at, 400, () => off);
    expect(rig.trips).toHaveLength(2);
    for (const { faults } of rig.trips) expect(faults).toBeUndefined();
  });

  test('if all sources are silent during a drive, the trip is DataLacking, but the odometer has the distance', () => {
    const rig = new Rig();
    parked(rig, { ...full(0), ...off });
    let at = rig.drive(T, 100, full);
    at = rig.wait(at, 100 * SECOND);
    at = rig.drive(at, 101, (s) => full(s + 200));
    rig.drive(at, 400, () => off);
    expect(rig.only.faults).toEqual([{ fault: 'DataLacking', cause: 'Connection' }]);
    expect(rig.only).toMatchObject({ done: true, stoppedAt: at, distanceSource: 'Odometer' });
    expect(Math.abs((rig.only.distance ?? 0) - KM)).toBeLessThan(0.15);
    expect(rig.only.kinetic?.avgSpeed).toBeCloseTo((KM / 301) * 3600, -1);
    // At the start, when readings resumed, and at the end.
    expect(rig.put).toHaveLength(3);
  });

  test('if only the distance sources are silent, the trip is DataLacking, once', () => {
    const rig = new Rig();
    parked(rig, { ...full(0), ...off });
    let at = rig.drive(T, 100, full);
    for (const _ of [1, 2]) {
      at = rig.drive(at, 90, () => ({ 'ignition.type': 'Start' }));
      at = rig.drive(at, 50, () => full(100));
    }
    rig.drive(at, 400, () => off);
    expect(rig.only.faults).toEqual([{ fault: 'DataLacking', cause: 'Connection' }]);
  });

  test('if the car is silent past the grace time, the trip is Unfinished and ends at the last known time', () => {
    const rig = new Rig();
    parked(rig, { ...full(0), ...off });
    const at = rig.drive(T, 150, full);
    rig.wait(at, 7 * MINUTE);
    expect(rig.only.faults).toEqual([{ fault: 'Unfinished', cause: 'Connection' }]);
    expect(rig.only.done).toBe(true);
    expect(Math.abs((rig.only.stoppedAt ?? 0) - at)).toBeLessThanOrEqual(SECOND);
    expect(rig.only.distance).toBeCloseTo(trip.km(149), 1);
  });

  test('if the car is parked elsewhere after a power cut, the trip is Unfinished', () => {
    const rig = new Rig();
    parked(rig, { ...full(0), ...off });
    let at = rig.drive(T, 150, full);
    rig.cut();
    const cutAt = at;
    at += 3 * MINUTE;
    rig.drive(at, 10, () => ({ ...full(300), ...off }));
    expect(rig.only).toMatchObject({ done: true, faults: [{ fault: 'Unfinished', cause: 'Connection' }] });
    expect(Math.abs((rig.only.stoppedAt ?? 0) - cutAt)).toBeLessThanOrEqual(SECOND);
    expect(rig.only.stopPosition?.geometry.coordinates[1]).toBeCloseTo(43.6 + (trip.km(149) * 1000) / 111_195, 4);
  });

  test('if the car drives after a long power cut, one trip is Unfinished and the next Unstarted', () => {
    const rig = new Rig();
    parked(rig, { ...full(0), ...off });
    let at = rig.drive(T, 100, full);
    rig.cut();
    at += 10 * MINUTE;
    at = rig.drive(at, 101, (s) => full(s + 200));
    rig.drive(at, 400, () => off);
    expect(rig.trips.map(({ faults }) => faults)).toEqual([
      [{ fault: 'Unfinished', cause: 'Connection' }],
      [{ fault: 'Unstarted', cause: 'Connection' }],
    ]);
    const [first, second] = rig.trips;
    expect(second?.startedAt).toBeGreaterThanOrEqual(first?.stoppedAt ?? Number.POSITIVE_INFINITY);
    expect(second?.distance).toBeLessThan(KM - trip.km(199) + 0.2);
  });

  test('a restart of seconds is not a fault', () => {
    const rig = new Rig();
    parked(rig, { ...full(0), ...off });
    rig.drive(T, 100, full);
    rig.cut();
    const at = rig.drive(T + 110 * SECOND, 191, (s) => full(s + 110));
    rig.drive(at, 400, () => off);
    expect(rig.only.faults).toBeUndefined();
    expect(rig.put).toHaveLength(2);
    expect(rig.only.distance).toBeCloseTo(KM, 1);
  });
});

describe('trips under privacy', () => {
  test('Geolocation privacy hides positions of that time, and keeps distance and speed', () => {
    const rig = new Rig();
    parked(rig, { ...full(0), ...off });
    let at = rig.drive(T, 100, full);
    at = rig.drive(at, 100, (s) => ({ ...(s === 0 ? { 'privacy.state': 'Geolocation' } : {}), ...full(s + 100) }));
    at = rig.drive(at, 101, (s) => full(s + 200));
    rig.drive(at, 400, () => off);
    expect(rig.only.faults).toEqual([{ fault: 'DataLacking', cause: 'GeoPrivacy' }]);
    expect(rig.only.stopPosition).toBeUndefined();
    expect(rig.only.distance).toBeCloseTo(KM, 1);
  });

  test('in a car with positions only, private time and distance belong to no trip', () => {
    const rig = new Rig();
    parked(rig, north(0));
    let at = rig.drive(T, 100, (s) => north(trip.km(s) * 1000));
    const hiddenAt = at;
    rig.say({ 'privacy.state': 'Geolocation' }, at);
    at = rig.wait(at, 6 * MINUTE);
    expect(rig.only).toMatchObject({
      done: true,
      stoppedAt: hiddenAt,
      faults: [{ fault: 'Unfinished', cause: 'GeoPrivacy' }],
    });
    expect(rig.only.stopPosition).toBeDefined();
    rig.say({ 'privacy.state': 'None' }, at);
    rig.drive(at, 60, (s) => north(5_000 + s * 20));
    expect(rig.trips[1]).toMatchObject({ faults: [{ fault: 'Unstarted', cause: 'GeoPrivacy' }] });
  });

  const fast = (s: number): Says => ({ ...full(s), 'kinetic.speed': 130, 'odometer.mileage': floor(1000 + s, 1) });

  test('Full privacy shorter than the grace time excludes its distance and energy from the trip', () => {
    const rig = new Rig();
    const electric = 'energies.Electric.extension.electric.battery.load.residual';
    parked(rig, { ...full(0), ...off, [electric]: 40_000 });
    let at = rig.drive(T, 100, (s) => ({ ...full(s), [electric]: 40_000 - s }));
    rig.say({ 'privacy.state': 'Full' }, at);
    at = rig.drive(at, 100, (s) => ({ ...fast(s), [electric]: 30_000 }));
    const before = rig.put.length;
    rig.say({ 'privacy.state': 'None' }, at);
    const seconds = 301 - 200;
    at = rig.drive(at, seconds, (s) => ({
      ...full(s + 200),
      'odometer.mileage': floor(1100 + trip.km(s + 200), 0.1),
      [electric]: 20_000 - s,
    }));
    expect(before).toBe(1);
    rig.drive(at, 400, () => off);
    const counted = trip.km(99) + KM - trip.km(200);
    expect(rig.only.faults).toEqual([{ fault: 'DataLacking', cause: 'FullPrivacy' }]);
    expect(rig.only.kinetic?.maxSpeed).toBe(72);
    expect(Math.abs((rig.only.distance ?? 0) - counted)).toBeLessThan(0.15);
    expect(rig.only.energyConsumptions?.[0]?.consumption).toBeCloseTo(99 + 100, -1);
    expect(rig.only.kinetic?.avgSpeed).toBeGreaterThan(50);
    expect(rig.only.kinetic?.avgSpeed).toBeLessThanOrEqual(72);
  });

  test('Full privacy longer than the grace time ends the trip at its start, and is reported afterwards', () => {
    const rig = new Rig();
    parked(rig, { ...full(0), ...off });
    let at = rig.drive(T, 100, full);
    const hiddenAt = at;
    rig.say({ 'privacy.state': 'Full' }, at);
    at = rig.drive(at, 600, fast);
    expect(rig.put).toHaveLength(1);
    rig.say({ 'privacy.state': 'None' }, at);
    at = rig.drive(at, 101, (s) => full(s + 200));
    rig.drive(at, 400, () => off);
    expect(rig.trips[0]).toMatchObject({
      stoppedAt: hiddenAt,
      faults: [{ fault: 'Unfinished', cause: 'FullPrivacy' }],
    });
    expect(rig.trips[0]?.distance).toBeCloseTo(trip.km(99), 1);
    expect(rig.trips[1]?.faults).toEqual([{ fault: 'Unstarted', cause: 'FullPrivacy' }]);
    expect(rig.trips).toHaveLength(2);
  });

  test('with the real mapping, the private distance is not part of the trip', () => {
    const paths = ['privacy.state', 'ignition.type', 'kinetic.speed', 'odometer.mileage'];
    const rig = recorderRig(paths);
    const recorder = new TripRecorder({ status: rig.status, records: rig.records, rule: RULE });
    rig.connect(recorder);
    const private_ = { from: 100, to: 200 };
    for (let second = -10; second < 720; second++) {
      const at = T + second * SECOND;
      const drives = second >= 0 && second <= 300;
      if (second === private_.from) rig.give('privacy.state', 'Full', at);
      if (second === private_.to) rig.give('privacy.state', 'None', at);
      const says = drives ? full(second) : { ...off, 'odometer.mileage': floor(1000.04 + (second > 0 ? KM : 0), 0.1) };
      for (const path of paths.slice(1)) rig.give(path, says[path] ?? 0, at);
      recorder.tick(at + 500);
    }
    const last = rig.of('trip').at(-1);
    const counted = trip.km(private_.from - 1) + KM - trip.km(private_.to);
    expect(last).toMatchObject({ done: true, faults: [{ fault: 'DataLacking', cause: 'FullPrivacy' }] });
    expect(new Set(rig.of('trip').map(({ id }) => id)).size).toBe(1);
    expect(Math.abs((last?.distance ?? 0) - counted)).toBeLessThan(0.15);
  });

  test('Full privacy while the car is switched off keeps the end of the trip', () => {
    const rig = new Rig();
    parked(rig, { ...full(0), ...off });
    let at = rig.drive(T, 301, full);
    const stopped = at;
    at = rig.drive(at, 20, () => off);
    rig.say({ 'privacy.state': 'Full' }, at);
    at = rig.wait(at, 10 * MINUTE);
    rig.say({ 'privacy.state': 'None' }, at);
    rig.drive(at, 5, () => off);
    expect(rig.only).toMatchObject({ done: true, stoppedAt: stopped });
    expect(rig.only.faults).toBeUndefined();
  });
});

describe('trips and clock corrections', () => {
  test('when the time becomes known, the open trip is moved', () => {
    const rig = new Rig();
    const wrong = T - 400 * 86_400_000;
    parked(rig, { ...full(0), ...off }, wrong - 10 * SECOND);
    rig.drive(wrong, 100, full);
    const by = T - wrong;
    rig.recorder.correct(by);
    const at = rig.drive(T + 100 * SECOND, 201, (s) => full(s + 100));
    rig.drive(at, 400, () => off);
    expect(rig.only).toMatchObject({ startedAt: T, stoppedAt: at, duration: 301 });
    expect(rig.only.faults).toBeUndefined();
    expect(rig.only.distance).toBeCloseTo(KM, 1);
  });

  test.each([3 * 3_600_000, 5 * 86_400_000])(
    'a clock step back by %d ms makes neither this trip nor the next run backwards',
    (by) => {
      const rig = new Rig();
      parked(rig, { ...full(0), ...off });
      rig.drive(T, 100, full);
      let at = T + 100 * SECOND - by;
      at = rig.drive(at, 201, (s) => full(s + 100));
      at = rig.drive(at, 400, () => off);
      at = rig.drive(at, 301, (s) => ({ ...full(s), 'odometer.mileage': floor(1000.04 + KM + trip.km(s), 0.1) }));
      rig.drive(at, 400, () => off);
      expect(rig.trips).toHaveLength(2);
      for (const one of rig.trips) {
        expect(one.duration).toBe(301);
        expect(one.faults).toBeUndefined();
        expect(one.distance).toBeCloseTo(KM, 1);
      }
      expect(rig.trips[1]?.startedAt).toBeGreaterThanOrEqual(rig.trips[0]?.stoppedAt ?? Number.POSITIVE_INFINITY);
    },
  );
});

test('an invalid stored state is refused, and the current trip continues', () => {
  const rig = new Rig();
  rig.drive(T, 100, full);
  const state = rig.recorder.state() as { trip: Record<string, unknown> };
  for (const wrong of [undefined, 7, {}, { ...state, trip: { ...state.trip, open: { id: 3 } } }]) {
    expect(() => rig.recorder.restore(wrong)).toThrow(expect.objectContaining({ code: 'input.malformed' }));
  }
  expect(RULE.grace).toBeGreaterThan(RULE.silence);
  rig.recorder.restore(state);
  expect(rig.recorder.current).toBe(rig.only.id);
});
