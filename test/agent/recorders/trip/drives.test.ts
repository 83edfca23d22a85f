import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quantise } from '../../../../agent/target.ts';
import { type Slot, slotByPath } from '../../../../protocol/slots.ts';
import { describeShared, sharedData } from '../../../shared.ts';
import { MINUTE, Rig, type Says, SECOND, T } from './rig.ts';

/** A drive as it was recorded once a second: km/h and rpm. */
function recorded(name: string): { speed: number[]; engine: number[] } {
  const lines = readFileSync(join(sharedData, 'drives', name), 'utf8')
    .trim()
    .split('\n');
  const head = (lines[0] ?? '').split(',').map((title) => title.trim());
  const column = (title: string): number[] => {
    const index = head.findIndex((one) => one.startsWith(title));
    return lines.slice(1).map((line) => Number(line.split(',')[index]));
  };
  return { speed: column('VEHICLE_SPEED'), engine: column('ENGINE_RPM') };
}

/** Km, by trapezoids. */
function integral(speed: readonly number[]): number {
  return speed.slice(1).reduce((sum, value, index) => sum + (value + (speed[index] ?? 0)) / 7200, 0);
}

describeShared('recorded drives', () => {
  const names = readdirSync(join(sharedData, 'drives')).filter((name) => name.endsWith('.csv'));

  test.each(names.flatMap((name) => [1000, 300, 777].map((offset) => [name, offset] as const)))(
    '%s, ticks %d ms behind the readings: within a hundredth of the integral of speed',
    (name, offset) => {
      const { speed, engine } = recorded(name);
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
});
