/** Readings in the line protocol of InfluxDB. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { influxLines } from '../../../adapters/exits/influx-lines.ts';
import { type Reading, telemetryFromReadings } from '../../../protocol/schema/telemetry.ts';
import { type Slot, slotByPath } from '../../../protocol/slots.ts';

const slot = (path: string): Slot => slotByPath.get(path) as Slot;
const options = { measurement: 'my cars', vin: 'VF3', sees: () => true };
const speed = slot('kinetic.speed');

test('numbers, flags, names, sets and times are fields of three types', () => {
  const at = 1_700_000_000_000;
  const readings: Reading[] = [
    { slot: speed, at, value: 50 },
    { slot: slot('kinetic.moving'), at, value: true },
    { slot: slot('doorsState.lockedStates'), at, value: ['Locked', 'SuperLocked'] },
    { slot: slot('ignition.type'), at, value: 'Start' },
  ];
  const lines = influxLines(telemetryFromReadings(readings), 12, options);
  expect(lines.map((line) => line.replace('my\\ cars,path=', ''))).toEqual(
    expect.arrayContaining([
      'kinetic.speed,vin=VF3 value=50 1700000000000012000',
      'kinetic.moving,vin=VF3 flag=true 1700000000000012000',
      'doorsState.lockedStates,vin=VF3 text="Locked,SuperLocked" 1700000000000012000',
      'ignition.type,vin=VF3 text="Start" 1700000000000012000',
    ]),
  );
});

test('a value that the exit may not send is left out', () => {
  const readings = [
    { slot: speed, at: 1, value: 5 },
    { slot: slot('kinetic.moving'), at: 1, value: true },
  ];
  const lines = influxLines(telemetryFromReadings(readings), 1, { ...options, sees: (one) => one !== speed });
  expect(lines).toHaveLength(1);
});

test('values of equal times stay apart, in one record and in successive ones, and a repeated record gives equal lines', () => {
  const moments = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(moments, moments, fc.nat(100_000), (first, second, number) => {
      const lines = [first, second].flatMap((times, index) => {
        const readings = times.toSorted((a, b) => a - b).map((at, value) => ({ slot: speed, at: 1e12 + at, value }));
        const telemetry = telemetryFromReadings(readings);
        const made = influxLines(telemetry, number + index, options);
        expect(influxLines(telemetry, number + index, options)).toEqual(made);
        return made;
      });
      const times = lines.map((line) => line.slice(line.lastIndexOf(' ') + 1));
      expect(new Set(times).size).toBe(first.length + second.length);
      expect(times.map((ns) => Number(ns.slice(0, -6)) - 1e12)).toEqual([
        ...first.toSorted((a, b) => a - b),
        ...second.toSorted((a, b) => a - b),
      ]);
    }),
  );
});
