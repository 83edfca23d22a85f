import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { quantise } from '../../../../agent/model/target.ts';
import { type Slot, slotByPath } from '../../../../protocol/slots.ts';
import { folderOfDrives } from '../../../drives/folder.ts';
import { type Column, drivesIn, RecordedDrive } from '../../../drives/recording.ts';
import { describeShared, sharedData } from '../../../shared.ts';
import { MINUTE, Rig, type Says, SECOND, T } from './rig.ts';

/** Distance in km, by trapezoidal integration. */
function integral(speed: readonly number[]): number {
  return speed.slice(1).reduce((sum, value, index) => sum + (value + (speed[index] ?? 0)) / 7200, 0);
}

/** The distance of a trip equals that of the recording, whatever the phase of the ticks. */
function areMeasured(paths: readonly string[]): void {
  const drives = paths.map((path) => ({ name: basename(path), drive: new RecordedDrive(path) }));

  test.each(drives.flatMap((one) => [1000, 300, 777].map((offset) => ({ ...one, offset }))))(
    '$name, ticks $offset ms behind the readings: within a hundredth of the integral of speed',
    ({ drive, offset }) => {
      const column = (name: Column) => Array.from({ length: drive.end + 1 }, (_, second) => drive.row(name, second));
      const [speed, engine] = [column('speed'), column('rpm')];
      const rig = new Rig(undefined);
      const says = (index: number): Says => ({
        'kinetic.speed': quantise(slotByPath.get('kinetic.speed') as Slot, speed[index] as number),
        'engines.Thermic.speed': quantise(slotByPath.get('engines.Thermic.speed') as Slot, engine[index] as number),
      });
      for (let index = 0; index < speed.length; index++) {
        rig.say(says(index), T + index * SECOND);
        rig.tick(T + index * SECOND + offset);
      }
      rig.wait(T + speed.length * SECOND + offset, 12 * MINUTE);
      expect(rig.trips.length).toBeGreaterThan(0);
      const driven = rig.trips.reduce((sum, { distance }) => sum + (distance ?? 0), 0);
      const truth = integral(speed);
      expect(truth).toBeGreaterThan(1);
      expect(Math.abs(driven / truth - 1)).toBeLessThan(0.01);
      for (const trip of rig.trips) {
        expect(trip).toMatchObject({ done: true, distanceSource: 'Speed' });
        expect(trip.kinetic?.maxSpeed).toBeLessThanOrEqual(Math.max(...speed) + 0.05);
      }
    },
  );
}

describe('generated drives', () => areMeasured(drivesIn(folderOfDrives())));
describeShared('recorded drives', () => areMeasured(drivesIn(join(sharedData, 'drives'))));
