/** The scripted day through the whole core: exactly the events of the script are recorded. */
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { Noise } from '../../adapters/simulated/noise.ts';
import { deviation, distance } from '../../agent/model/position.ts';
import { bodies } from '../../protocol/schema/message.ts';
import { readingsFromTelemetry } from '../../protocol/schema/telemetry.ts';
import type { Waypoint } from '../../protocol/schema/waypoint.ts';
import { DAY, type DayLog, MIDNIGHT, timeKnownAt, wallAt } from '../rig/day.ts';
import { type DayOutcome, runDay, wholeDay } from '../rig/day-run.ts';
import { firstDifference, messagesOf, objectsIn, recordsOf, timeOf } from './records.ts';
import * as truth from './truth.ts';

/** Period of the slowest frame for trips, alerts, alarms and thefts, ms. */
const FRAME = 220;
/** Half the resolution of the odometer in Status, km. */
const ODOMETER = 0.05;
/** Time in which a parked car falls asleep, ms: a trip may still continue, an alert may still flicker. */
const FALLING_ASLEEP = 360_000;

let log: DayLog;
let day: DayOutcome;

beforeAll(async () => {
  ({ log, day } = await wholeDay());
}, 120_000);

/** Distance of a recorded position from the true one, m. */
function off(position: { geometry: { coordinates: readonly number[] } } | undefined, elapsed: number): number {
  const [longitude = Number.NaN, latitude = Number.NaN] = position?.geometry.coordinates ?? [];
  return distance({ latitude, longitude }, truth.placeAt(elapsed));
}

function expectTime(at: number | undefined, expected: number, tolerance = FRAME): void {
  expect(timeOf(at)).toBeGreaterThanOrEqual(expected);
  expect(timeOf(at)).toBeLessThanOrEqual(expected + tolerance);
}

describe('the day of the bench car', () => {
  test('the day has all of its parts, and the agent reports no fault', () => {
    expect(day.faults).toBe(0);
    expect(day.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    expect(log.count).toBeGreaterThan(1_000_000);
    expect(truth.trips).toHaveLength(5);
    expect(truth.alerts.length).toBeGreaterThanOrEqual(6);
    expect(Object.keys(day.records).sort()).toEqual(
      ['alarm', 'alert', 'collision', 'maintenance', 'stolen', 'telemetry', 'trip', 'waypoint'].sort(),
    );
  });

  test('trips have the right start, end, distance, mileage and faults', () => {
    const trips = recordsOf(day, 'trip');
    expect(trips).toHaveLength(truth.trips.length);
    for (const [index, expected] of truth.trips.entries()) {
      const trip = trips[index];
      expectTime(trip?.startedAt, expected.from);
      expectTime(trip?.stoppedAt, expected.to);
      expect(trip?.done).toBe(true);
      expect(trip?.duration).toBe(Math.round((expected.to - expected.from) / 1000));
      expect(Math.abs((trip?.distance ?? 0) - expected.way)).toBeLessThanOrEqual(
        expected.private ? 3 * ODOMETER : ODOMETER,
      );
      expect(trip?.distanceSource).toBe('Odometer');
      expect(Math.abs((trip?.startMileage ?? 0) - expected.startMileage)).toBeLessThanOrEqual(ODOMETER + 1e-9);
      expect(off(trip?.startPosition, expected.from)).toBeLessThan(1);
      expect(off(trip?.stopPosition, expected.to)).toBeLessThan(5);
      expect(trip?.faults).toEqual(
        expected.private
          ? [
              { fault: 'DataLacking', cause: 'GeoPrivacy' },
              { fault: 'DataLacking', cause: 'FullPrivacy' },
            ]
          : undefined,
      );
      const segments = trip?.segments ?? [];
      expect(segments.map(({ propulsion }) => propulsion)).toEqual(['Electric', 'Hybrid']);
      expect(segments.reduce((sum, { distance: part = 0 }) => sum + part, 0)).toBeCloseTo(trip?.distance ?? 0, 1);
      expect(trip?.energyConsumptions?.map(({ type }) => type)).toEqual(['Fuel', 'Electric']);
      expect(trip?.kinetic?.maxSpeed).toBe(57.6);
    }
  });

  test('each lit lamp is one alert, flicker is one alert, and private alerts are not recorded', () => {
    const alerts = recordsOf(day, 'alert');
    expect(alerts.map(({ type }) => type)).toEqual(truth.alerts.map(({ type }) => type));
    expect(alerts.filter(({ type }) => type === 'EngineFault')).toHaveLength(1);
    for (const [index, expected] of truth.alerts.entries()) {
      const alert = alerts[index];
      expectTime(alert?.startedAt, expected.from);
      expectTime(alert?.endAt, expected.to);
      expect(alert?.active).toBe(false);
      // A car that wakes up has no fix yet: the last one counts, if there was one.
      if (alert?.startPosition !== undefined) expect(off(alert.startPosition, expected.from)).toBeLessThan(8);
      expect(off(alert?.endPosition, expected.to)).toBeLessThan(8);
      const trip = truth.trips.findIndex(({ from, to }) => from <= expected.from && expected.from <= to + 300_000);
      expect(alert?.tid).toBe(recordsOf(day, 'trip')[trip]?.id);
    }
  });

  test('alarms have arming, disarming, trigger and position', () => {
    const alarms = recordsOf(day, 'alarm');
    expect(alarms.map(({ status, trigger }) => status?.activation ?? trigger?.type)).toEqual(
      truth.alarms.map(({ what }) => what),
    );
    for (const [index, { at }] of truth.alarms.entries()) {
      expectTime(alarms[index]?.createdAt, at);
      const { trigger } = alarms[index] ?? {};
      if (trigger !== undefined) expect(off(trigger.position, at)).toBeLessThan(1);
    }
  });

  test('the theft lasts from 100 m away without a key until the key is back', () => {
    const [theft, ...more] = recordsOf(day, 'stolen');
    expect(more).toEqual([]);
    expect(theft).toMatchObject({ origin: 'Alarm', state: false });
    expectTime(theft?.startedAt, truth.theft.from - 100, 1_300);
    expectTime(theft?.endAt, truth.theft.to);
    expect(off(theft?.startPosition, timeOf(theft?.startedAt))).toBeLessThan(5);
    expect(off(theft?.endPosition, truth.theft.to)).toBeLessThan(5);
    const stolen = messagesOf(day).flatMap(({ message }) =>
      message.kind === 'status' ? [message.body.status.stolen] : [],
    );
    expect(stolen.some((told) => told?.state === true)).toBe(true);
    expect(stolen.at(-1)).toBeUndefined();
  });

  test('the collision has its position, severity, trip and pulse', () => {
    const [collision, ...more] = recordsOf(day, 'collision');
    expect(more).toEqual([]);
    const { at, speed, said, trip } = truth.collision;
    expectTime(collision?.createdAt, at);
    expect(collision?.details).toEqual([said]);
    expect(collision?.tid).toBe(recordsOf(day, 'trip')[trip]?.id);
    expect(off(collision?.position, at)).toBeLessThan(5);
    expect(collision?.tippedOver).toBeUndefined();
    // The driver's acceleration is taken for an inclination of the sensor.
    expect(Math.abs((collision?.longitudinalChange ?? 0) + speed * 3.6)).toBeLessThan(2);
    expect(Math.abs(collision?.lateralChange ?? 9)).toBeLessThan(1);
    const { start = 0, interval = 0, longitudinal = [], vertical = [] } = collision?.pulse ?? {};
    expect(interval).toBeCloseTo(10, 1);
    expect(Math.abs(timeOf(start) - (timeOf(collision?.createdAt) - 5_000))).toBeLessThan(20);
    expect(longitudinal).toHaveLength(1_000);
    expect(new Set(vertical)).toEqual(new Set([9.8]));
    // Half sine of 100 ms.
    expect(Math.min(...longitudinal) / ((-speed * Math.PI) / 0.2)).toBeCloseTo(1, 1);
    const braked = longitudinal.filter((value) => value < -5).reduce((sum, value) => sum + value / 100, 0);
    expect(Math.abs(braked / -speed - 1)).toBeLessThan(0.05);
    const readings = collision?.readings === undefined ? [] : readingsFromTelemetry(collision.readings);
    const speeds = readings.filter(({ slot }) => slot.path === 'kinetic.speed');
    expect(speeds.length).toBeGreaterThan(50);
    expect(speeds.at(-1)?.value).toBe(0);
    for (const reading of readings) expect(Math.abs(timeOf(reading.at) - at)).toBeLessThan(5_000 + FRAME);
  });

  test('maintenance is one record that is updated when a day is over', () => {
    const [record, ...more] = recordsOf(day, 'maintenance');
    expect(more).toEqual([]);
    expect(record?.daysBeforeMaintenance).toBe(211);
    const kilometres = Math.floor(12_345.6 + truth.wayAt(timeOf(record?.updatedAt)));
    expect(record?.mileageBeforeMaintenance).toBe(20_000 - (kilometres % 20_000));
    expect(timeOf(record?.createdAt)).toBeGreaterThan(truth.asleep[0]?.to ?? DAY);
    expect(timeOf(record?.createdAt)).toBeLessThan((truth.asleep[0]?.to ?? DAY) + 2_000);
  });
});

describe('route of the day', () => {
  const points = (): Waypoint[] => recordsOf(day, 'waypoint').flatMap((piece) => piece.points);

  test('waypoints follow the car, at most 10 m from the line between two points', () => {
    const all = points();
    expect(all.length).toBeGreaterThan(50);
    for (const [index, point] of all.entries()) {
      expect(distance(point, truth.placeAt(timeOf(point.at)))).toBeLessThan(5);
      const before = all[index - 1];
      if (before === undefined) continue;
      expect(point.at).toBeGreaterThan(before.at);
      if (point.gap === true) continue;
      for (let at = timeOf(before.at); at < timeOf(point.at); at += 1_000) {
        expect(deviation(before, point, truth.placeAt(at))).toBeLessThan(11);
      }
    }
  });

  test('waypoints have gaps exactly in the tunnel and under privacy', () => {
    const gaps = points().filter(({ gap }) => gap === true);
    const expected = [...truth.tunnels, ...truth.hiddenPlaces].map(({ to }) => to);
    expect(gaps).toHaveLength(expected.length);
    for (const [index, at] of expected.entries()) expectTime(gaps[index]?.at, at, 1_500);
  });
});

describe('times of the day', () => {
  test('all times are right, although the unit learned the time during the first drive', () => {
    expect(timeKnownAt).toBeGreaterThan(truth.trips[0]?.from ?? DAY);
    const unknown = { from: wallAt(0), to: wallAt(timeKnownAt - 1) };
    const wrong = (value: unknown): boolean =>
      typeof value === 'number' && value > unknown.from && value < unknown.to && Number.isInteger(value);
    for (const [kind, records] of Object.entries(day.records)) {
      for (const { at, record } of records) {
        expect(timeOf(at), kind).toBeGreaterThan(0);
        for (const object of objectsIn(record)) expect(Object.values(object).filter(wrong), kind).toEqual([]);
      }
    }
    for (const piece of recordsOf(day, 'telemetry')) {
      for (const { slot, at, value } of readingsFromTelemetry(piece)) {
        expect(wrong(at)).toBe(false);
        // A time that is itself a reading is in compressed columns. `hello` tells the receiver how to correct it.
        if (slot.kind !== 'instant' || timeOf(at) > timeKnownAt) expect(wrong(value), slot.path).toBe(false);
      }
    }
    const [last] = messagesOf(day)
      .flatMap(({ message }) => (message.kind === 'status' && message.body.full ? [message] : []))
      .slice(-1);
    for (const object of objectsIn(last?.body)) expect(Object.values(object).filter(wrong)).toEqual([]);
  });

  test('the clock offset is reported once', () => {
    const hellos = messagesOf(day).flatMap(({ message }) => (message.kind === 'hello' ? [message.body] : []));
    expect(hellos.map(({ behind }) => behind)).toEqual([undefined, MIDNIGHT - wallAt(0)]);
    expect(hellos[1]?.startedAt).toBe(MIDNIGHT);
  });

  test('time never runs backwards in a record, and no trips overlap', () => {
    const trips = recordsOf(day, 'trip');
    for (const [index, trip] of trips.entries()) {
      expect(trip.stoppedAt).toBeGreaterThanOrEqual(trip.startedAt ?? 0);
      expect(trip.updatedAt).toBeGreaterThanOrEqual(trip.stoppedAt ?? 0);
      expect(trip.startedAt).toBeGreaterThanOrEqual(trips[index - 1]?.stoppedAt ?? 0);
    }
    for (const alert of recordsOf(day, 'alert')) expect(alert.endAt).toBeGreaterThanOrEqual(alert.startedAt);
    for (const theft of recordsOf(day, 'stolen')) expect(theft.endAt).toBeGreaterThanOrEqual(theft.startedAt);
    for (const records of Object.values(day.records)) {
      for (const { record } of records) {
        const { createdAt, updatedAt } = record as { createdAt?: number; updatedAt?: number };
        if (updatedAt !== undefined) expect(updatedAt).toBeGreaterThanOrEqual(createdAt ?? 0);
      }
    }
  });
});

test('every record follows its schema', () => {
  const ajv = new Ajv2020({ strict: false });
  for (const [kind, records] of Object.entries(day.records)) {
    const valid = ajv.compile(bodies[kind as keyof typeof bodies]);
    for (const { record } of records) {
      valid(record);
      expect(valid.errors ?? [], kind).toEqual([]);
    }
  }
});

describe('privacy during the day', () => {
  test('no position has a time under privacy, and nothing has a time under Full privacy', () => {
    const open = (at: unknown): boolean =>
      !truth.within(
        timeOf(at as number),
        truth.hiddenPlaces.map(({ from, to }) => ({ from: from + 520, to })),
      );
    for (const { message } of messagesOf(day)) {
      for (const object of objectsIn(message.body)) {
        if (object['latitude'] !== undefined) expect(open(object['at'])).toBe(true);
        if (object['geometry'] !== undefined) {
          expect(open((object['properties'] as { createdAt: number }).createdAt)).toBe(true);
        }
      }
      if (message.kind !== 'telemetry') continue;
      for (const { slot, at } of readingsFromTelemetry(message.body)) {
        if (slot.path.startsWith('lastPosition.')) expect(open(at)).toBe(true);
        const safe = slot.path.startsWith('privacy.') || slot.path.startsWith('safety.');
        if (!safe)
          expect(
            truth.within(
              timeOf(at),
              truth.full.map(({ from, to }) => ({ from: from + 520, to })),
            ),
          ).toBe(false);
      }
    }
  });

  test('published bytes are the same whatever the car does under privacy', async () => {
    const other = await runDay(disguised(log));
    expect(firstDifference(other, day)).toBeUndefined();
    expect(
      Object.entries(other.records).filter(([kind, records]) => !isDeepStrictEqual(records, day.records[kind])),
    ).toEqual([]);
  }, 120_000);
});

test('a parked car sends nothing, and only a little while it falls asleep', () => {
  const counts = truth.asleep.map(({ from, to }) => {
    const said = day.published.filter(({ elapsed }) => elapsed >= from && elapsed < to);
    const late = said.filter(({ elapsed }) => elapsed >= from + FALLING_ASLEEP);
    return { early: said.length - late.length, late: late.length };
  });
  // At midnight the agent starts and sends hello. When it stops, it sends open batches.
  expect(counts.map(({ late }) => late)).toEqual(counts.map(() => 0));
  for (const { early } of counts) expect(early).toBeLessThan(12);
});

/**
 * The same day with other positions under Geolocation privacy, and other data in all frames that Full privacy hides.
 */
function disguised({ elapsed, frames, ...rest }: DayLog): DayLog {
  const data = frames.data.slice();
  const noise = new Noise(7);
  // Privacy begins with the frame that reports it, up to half a second after the driver's choice.
  const since = (spans: readonly truth.Span[]) => spans.map(({ from, to }) => ({ from: from + 520, to }));
  const [places, everything] = [since(truth.hiddenPlaces), since(truth.full)];
  const [gnss, fix, modes, safety, accelerometer] = [769, 768, 840, 80, 184];
  for (let i = 0; i < rest.count; i++) {
    const at = elapsed[i] as number;
    const id = frames.id[i] as number;
    const place = (id === gnss || id === fix) && truth.within(at, places);
    const other = id !== modes && id !== safety && id !== accelerometer && truth.within(at, everything);
    if (place && !other) data[i * 8 + (id === gnss ? 2 : 0)] = Math.floor(noise.next() * 256);
    if (!other) continue;
    for (let byte = 0; byte < (frames.length[i] as number); byte++) data[i * 8 + byte] = Math.floor(noise.next() * 256);
  }
  return { ...rest, elapsed, frames: { ...frames, data } };
}
