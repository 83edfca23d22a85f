/** A drive on a made-up route, with a GNSS receiver in addition to the adapter. */
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { GnssSource } from '../../adapters/gnss/index.ts';
import { recordingDefaults } from '../../protocol/recording.ts';
import type { Waypoint } from '../../protocol/schema/waypoint.ts';
import { runs } from '../rig/runs.ts';
import { describeShared, sharedData } from '../shared.ts';
import { folderOfDrives } from './folder.ts';
import { ReceiverLine } from './line.ts';
import { drivesIn, RecordedDrive } from './recording.ts';
import { Rig } from './rig.ts';
import { vehicleWithReceiver } from './sky.ts';
import { aside, fix, moved, offset, type Place, Way } from './way.ts';

const { grace } = recordingDefaults.trip;
/** Delay from a fix until the receiver begins to send it, ms. */
const TOLD = 120;
/** Position drift of a standing car, m. */
const DRIFT = 6;
/** Rounding error of a position, m: five decimals of a minute, and 1e-7 degrees on the wire. */
const ROUNDED = 0.03;

interface Fix {
  /** UTC ms. */
  readonly at: number;
  readonly place: Place;
  /** The car has stood for some seconds, and stays. */
  readonly stands: boolean;
}

function goOnAWay(paths: readonly string[]): void {
  const vehicle = vehicleWithReceiver();
  const { error } = vehicle.profile.waypoints;
  const byLength = paths
    .map((path) => ({ name: basename(path), drive: new RecordedDrive(path) }))
    .sort((a, b) => a.drive.end - b.drive.end);
  const chosen = [
    { ...byLength[0], odometer: false },
    { ...byLength[runs(1, byLength.length - 1)], odometer: true },
  ].slice(-runs(1, 2)) as { name: string; drive: RecordedDrive; odometer: boolean }[];

  describe.each(chosen)('$name, with an odometer: $odometer', ({ drive, odometer }) => {
    const way = new Way(drive.km(drive.end) * 1000);
    const fixes: Fix[] = [];
    let rig: Rig;
    beforeAll(async () => {
      const line = new ReceiverLine();
      rig = new Rig({
        vehicle,
        drive,
        odometer,
        others: (clock) => [
          new GnssSource({ name: 'receiver', format: 'nmea', open: line.open, clock, earliest: 0, random: () => 0 }),
        ],
      });
      const { clock, car } = rig;
      const still = (at: number): boolean =>
        [-3, -2, -1, 0, 1, 2, 3].every((second) => car.value('speed', at + second * 1000) === 0);
      const tell = (): void => {
        clock.after(1000, tell);
        const moment = clock.monotonic();
        const at = clock.now();
        const stands = still(moment);
        const turn = fixes.length / 9;
        const true_ = way.at(drive.km((moment - car.begin) / 1000) * 1000);
        const place = stands ? moved(true_, DRIFT * Math.sin(turn), DRIFT * Math.cos(turn * 1.7)) : true_;
        fixes.push({ at, place, stands });
        const speed = car.value('speed', moment);
        clock.after(TOLD, () => line.say(fix(place, speed, at)));
      };
      clock.after(0, tell);
      await rig.run(grace + 100_000);
    });

    test('every fix of the moving car is within the stated error of the line between two waypoints', () => {
      const points = rig.waypoints;
      expect(error).toBe(10);
      expect(points.length).toBeGreaterThan(drive.km(drive.end));
      const driven = fixes.filter(({ stands }) => !stands);
      expect(driven.length).toBeGreaterThan(drive.end / 2);
      let farthest = 0;
      for (const { at, place } of driven) {
        const next = points.findIndex((point) => point.at >= at);
        // After the last waypoint the car may only be at the place where it stopped.
        const [before, after = before] = points.slice(next < 0 ? -1 : Math.max(0, next - 1)) as Waypoint[];
        farthest = Math.max(farthest, aside(place, before as Waypoint, after as Waypoint));
      }
      expect(farthest).toBeLessThanOrEqual(error + ROUNDED);
      expect(points.every(({ at }, i) => i === 0 || at > (points[i - 1]?.at ?? 0))).toBe(true);
    });

    test('waypoints are fixes with the car’s speed, and none is drift of a standing car', () => {
      // The first one is the place of the parked car.
      const points = rig.waypoints.slice(1);
      for (const { gap, at, latitude, longitude, speed, fixStatus, type } of points) {
        const same = fixes.find((one) => one.at === at);
        const [east, north] = offset({ latitude, longitude }, (same as Fix).place);
        expect(Math.hypot(east, north)).toBeLessThanOrEqual(ROUNDED);
        expect(same?.stands).toBe(false);
        expect({ gap, fixStatus, type }).toEqual({ gap: undefined, fixStatus: '3D', type: 'Acquire' });
        const moment = at - (rig.clock.now() - rig.clock.monotonic());
        const near = [-1500, 0, 1500].map((by) => rig.car.value('speed', moment + by));
        expect(speed).toBeGreaterThanOrEqual(Math.min(...near) - drive.steepest('speed') - 1);
        expect(speed).toBeLessThanOrEqual(Math.max(...near) + drive.steepest('speed') + 1);
      }
    });

    test('the trip has the driven distance from a better source than positions, and the right start and end', () => {
      const [trip, ...more] = rig.trips;
      expect(more).toEqual([]);
      expect(trip).toMatchObject({ done: true, distanceSource: odometer ? 'Odometer' : 'Speed' });
      expect(trip?.faults).toBeUndefined();
      expect(Math.abs((trip?.distance ?? 0) / drive.km(drive.end) - 1)).toBeLessThan(0.01);
      for (const [position, km] of [
        [trip?.startPosition, 0],
        [trip?.stopPosition, drive.km(drive.end)],
      ] as const) {
        const [longitude = Number.NaN, latitude = Number.NaN] = position?.geometry?.coordinates ?? [];
        const [east, north] = offset({ latitude, longitude }, way.at(km * 1000));
        expect(Math.hypot(east, north)).toBeLessThanOrEqual(2 * DRIFT);
      }
    });
  });
}

describe('generated drives on a route', () => goOnAWay(drivesIn(folderOfDrives())));
describeShared('recorded drives on a way', () => goOnAWay(drivesIn(join(sharedData, 'drives'))));
