import fc from 'fast-check';
import { expect, test } from 'vitest';
import { samplesOf } from '../../../../adapters/http/resources/samples.ts';
import {
  type Reading,
  readingsFromTelemetry,
  telemetryFromReadings,
  telemetrySlots,
} from '../../../../protocol/schema/telemetry.ts';
import { slotValue } from '../../../protocol/schema/arbitrary.ts';
import { MIDNIGHT } from '../../../rig/day.ts';

const some = [...telemetrySlots].slice(0, 12);

/** Readings of a few slots within a few seconds, often at the same time. */
const readings: fc.Arbitrary<Reading[]> = fc.array(
  fc
    .tuple(fc.constantFrom(...some), fc.integer({ min: 0, max: 40 }))
    .chain(([slot, step]) => slotValue(slot).map((value) => ({ slot, value, at: MIDNIGHT + step * 100 }))),
  { maxLength: 60 },
);

test('every reading is in exactly one sample, less than a second later and within the same second', () => {
  fc.assert(
    fc.property(readings, (taken) => {
      const telemetry = telemetryFromReadings(taken);
      const samples = samplesOf(telemetry);
      const left = new Map<string, unknown>();
      for (const { slot, at, value } of readingsFromTelemetry(telemetry)) left.set(`${slot.path} ${at}`, value);
      for (const { at, values } of samples) {
        for (const [slot, value] of values) {
          const from = [...left].find(([key, read]) => {
            const [path, time] = key.split(' ');
            const age = at - Number(time);
            return (
              path === slot.path &&
              read === value &&
              age >= 0 &&
              age < 1_000 &&
              Math.floor(at / 1_000) === Math.floor(Number(time) / 1_000)
            );
          });
          expect(from).toBeDefined();
          left.delete(from?.[0] ?? '');
        }
      }
      // If a slot has two readings at one time, only the later one remains.
      expect([...left.keys()]).toEqual([]);
    }),
  );
});

test('sample times are in ascending order and distinct', () => {
  fc.assert(
    fc.property(readings, (taken) => {
      const times = samplesOf(telemetryFromReadings(taken)).map(({ at }) => at);
      expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
    }),
  );
});
