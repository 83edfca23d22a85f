/** Drives through adapter, polling and agent, with the shipped profile for any car. */
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadVehicle } from '../../assembly/vehicle.ts';
import { recordingDefaults, type TelemetryRule } from '../../protocol/recording.ts';
import { runs } from '../rig/runs.ts';
import { describeShared, sharedData } from '../shared.ts';
import { folderOfDrives } from './folder.ts';
import { drivesIn, RecordedDrive } from './recording.ts';
import { Rig } from './rig.ts';
import { Comparison, DELIVERY, GRID, type Quantity, quantities } from './telemetry.ts';

const { grace } = recordingDefaults.trip;
/** The control unit is silent for longer than the grace time of a trip. */
const PARKED = grace + 100_000;

interface Expected {
  /** Range of seconds of the recording in which the trip began, and in which it ended. */
  readonly began: readonly [number, number];
  readonly ended: readonly [number, number];
  readonly km: number;
}

/** Trips of a drive: the parts between two stops of engine and car that are longer than the grace time. */
function tripsOf(drive: RecordedDrive): Expected[] {
  const stretches: [number, number][] = [];
  for (const { at, runs } of drive.engineTurns()) {
    const last = stretches.at(-1);
    if (!runs && last !== undefined) last[1] = at;
    else if (last === undefined || at - last[1] > grace / 1000) stretches.push([at, at]);
  }
  return stretches
    .map(([from, to]) => ({
      began: [from - 1, from] as const,
      ended: [to - 1, to] as const,
      km: drive.km(to) - drive.km(from - 1),
    }))
    .filter(({ km }) => km >= 0.02);
}

/** Properties of every drive that is read through an ELM327. */
function areAskedFor(paths: readonly string[]): void {
  const vehicle = loadVehicle('generic-obd2');
  const polls = vehicle.profile.buses.find(({ obd }) => obd !== undefined)?.obd?.signals ?? {};
  const rules = vehicle.profile.telemetry as Readonly<Record<string, TelemetryRule>>;
  const ruleOf = (path: string): TelemetryRule => rules[path] ?? (rules['default'] as TelemetryRule);
  const engine = quantities.find(({ column }) => column === 'rpm') as Quantity;

  const byLength = paths
    .map((path) => ({ name: basename(path), drive: new RecordedDrive(path) }))
    .sort((a, b) => a.drive.end - b.drive.end);
  const shortest = byLength[0]?.drive as RecordedDrive;

  describe.each(byLength.slice(0, runs(1, byLength.length)))('$name', ({ drive }) => {
    let rig: Rig;
    beforeAll(async () => {
      rig = new Rig({ vehicle, drive });
      await rig.run(PARKED);
    });

    test('trips match the drive from engine start to engine stop, each within a hundredth of its distance', () => {
      const expected = tripsOf(drive);
      const { gap } = new Comparison(rig, engine, ruleOf(engine.path));
      expect(expected.length).toBeGreaterThan(0);
      expect(rig.trips).toHaveLength(expected.length);
      const wall = rig.clock.now() - rig.clock.monotonic() + rig.car.begin;
      for (const [i, { began, ended, km }] of expected.entries()) {
        const trip = rig.trips[i];
        expect(trip).toMatchObject({ done: true, distanceSource: 'Speed' });
        expect(trip?.faults).toBeUndefined();
        expect(trip?.startPosition).toBeUndefined();
        expect(Math.abs((trip?.distance ?? 0) / km - 1)).toBeLessThan(0.01);
        const startedAt = (trip?.startedAt ?? 0) - wall;
        const stoppedAt = (trip?.stoppedAt ?? 0) - wall;
        expect(startedAt).toBeGreaterThanOrEqual(began[0] * 1000);
        expect(startedAt).toBeLessThanOrEqual(began[1] * 1000 + gap + DELIVERY);
        expect(stoppedAt).toBeGreaterThanOrEqual(ended[0] * 1000);
        expect(stoppedAt).toBeLessThanOrEqual(ended[1] * 1000 + gap + DELIVERY);
        expect(trip?.kinetic?.maxSpeed).toBeLessThanOrEqual(255);
        expect(trip?.segments).toMatchObject([{ propulsion: 'Thermal', percent: 100 }]);
      }
    });

    test('the engine starts and stops are recorded at the right times', () => {
      const { gap } = new Comparison(rig, engine, ruleOf(engine.path));
      const turns = drive.engineTurns();
      for (const path of ['powertrain.status', 'engines.Thermic.gmpStatus']) {
        const series = rig.series<string>(path);
        const changes = series.filter(({ value }, i) => value !== series[i - 1]?.value);
        expect(changes.map(({ value }) => value)).toEqual([
          'Stopped',
          ...turns.map(({ runs }) => (runs ? 'Running' : 'Stopped')),
        ]);
        for (const [i, { at }] of turns.entries()) {
          const told = (changes[i + 1]?.at ?? 0) - rig.car.begin;
          expect(told).toBeGreaterThanOrEqual((at - 1) * 1000);
          expect(told).toBeLessThanOrEqual(at * 1000 + gap + DELIVERY);
        }
      }
    });

    test.each(quantities)('$path follows the car within its dead-band and interval', ({ path, signal, column }) => {
      const comparison = new Comparison(rig, { path, signal, column }, ruleOf(path));
      const { readings, answers, gap, parameter, resolution, rule } = comparison;
      const interval = polls[signal]?.interval ?? Number.NaN;
      expect(readings.length).toBeGreaterThan(drive.end / (rule.heartbeat / 1000) - 1);
      expect(readings.length).toBeLessThanOrEqual(answers.length);
      // The car is polled at the interval of the profile. One request may wait for another, or for a search.
      expect(gap).toBeLessThanOrEqual(interval + 500);
      // Every reading is a value that the car sent then.
      expect(comparison.unfounded()).toEqual([]);
      // A difference of a dead-band or more between answers and records lasts at most the interval …
      expect(comparison.longestAside()).toBeLessThanOrEqual(rule.interval + gap + DELIVERY);
      // … and so does that from the true value, apart from resolution and from changes while the answer was in transit.
      const moved = (drive.steepest(column) * (DELIVERY + GRID)) / 1000;
      const bound = rule.deadBand + parameter.resolution + resolution + moved;
      expect(comparison.longestWrong(bound)).toBeLessThanOrEqual(rule.interval + gap + DELIVERY + GRID);
      expect(readings.slice(1).every(({ at }, i) => at >= (readings[i]?.at ?? 0))).toBe(true);
    });

    test('no waypoint is recorded without a receiver, and nothing while the car is silent', () => {
      expect(rig.of('waypoint')).toEqual([]);
      const paths = vehicle.profile.sources.map(({ path }) => path);
      const all = paths.flatMap((path) => rig.series(path));
      expect(all.length).toBeGreaterThan(drive.end / 60);
      expect(all.filter(({ at }) => at > rig.car.silentAt + 61_000)).toEqual([]);
    });

    test('the adapter reports no error', () => {
      expect(rig.elm.health().counts).toMatchObject({ failed: 0, strays: 0, resyncs: 0, resets: 0, restarts: 0 });
      expect(rig.source.health().counts).toMatchObject({ faults: 0, unavailable: 0 });
    });
  });

  test('a car that goes silent as soon as its engine stops ends its trip there', async () => {
    const rig = new Rig({ vehicle, drive: shortest, after: 0 });
    await rig.run(PARKED);
    const [trip, ...more] = rig.trips;
    expect(more).toEqual([]);
    expect(trip?.done).toBe(true);
    expect(Math.abs((trip?.distance ?? 0) / shortest.km(shortest.end) - 1)).toBeLessThan(0.01);
    const stoppedAt = (trip?.stoppedAt ?? 0) - (rig.clock.now() - rig.clock.monotonic());
    expect(stoppedAt).toBeLessThanOrEqual(rig.car.silentAt + 1000);
    expect(stoppedAt).toBeGreaterThan(rig.car.silentAt - 2000);
  });

  test('a car with an odometer takes its distance from it', async () => {
    const rig = new Rig({ vehicle, drive: shortest, odometer: true });
    await rig.run(PARKED);
    const [trip, ...more] = rig.trips;
    expect(more).toEqual([]);
    expect(trip).toMatchObject({ done: true, distanceSource: 'Odometer' });
    expect(trip?.faults).toBeUndefined();
    expect(trip?.startMileage).toBeCloseTo(41_270, 0);
    expect(Math.abs((trip?.distance ?? 0) / shortest.km(shortest.end) - 1)).toBeLessThan(0.01);
  });
}

describe('generated drives through an ELM327', () => areAskedFor(drivesIn(folderOfDrives())));
describeShared('recorded drives, asked for by an ELM327', () => areAskedFor(drivesIn(join(sharedData, 'drives'))));
