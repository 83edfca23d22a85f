import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isTelemetry,
  type Reading,
  readingsFromTelemetry,
  telemetryFromReadings,
  telemetryJson,
  telemetrySchema,
} from '../../../protocol/schema/telemetry.ts';
import { type Slot, slotByPath, slots } from '../../../protocol/slots.ts';
import { slotValue } from './arbitrary.ts';

const valid = new Ajv2020({ strict: false }).compile(telemetrySchema);
const travelling = slots.filter(isTelemetry);

const readings: fc.Arbitrary<Reading[]> = fc.array(
  fc
    .constantFrom(...travelling)
    .chain((slot) =>
      fc.record({ slot: fc.constant(slot), value: slotValue(slot), at: fc.integer({ min: 0, max: 2 ** 42 }) }),
    ),
  { maxLength: 60 },
);

const slotOf = (path: string): Slot => {
  const slot = slotByPath.get(path);
  if (slot === undefined) throw new Error(`no slot ${path}`);
  return slot;
};

/** By slot, the order within a slot kept. */
const bySlot = (all: readonly Reading[]) => [...all].sort((a, b) => a.slot.id - b.slot.id);

describe('telemetry', () => {
  test('gives back every reading, to the last digit of the resolution', () => {
    fc.assert(
      fc.property(readings, (all) => {
        const telemetry = telemetryFromReadings(all);
        expect(valid(telemetry), JSON.stringify(valid.errors)).toBe(true);
        expect(readingsFromTelemetry(telemetry)).toEqual(bySlot(all));
      }),
      { numRuns: 500 },
    );
  });

  test('rounds what is finer than the resolution to the nearest step', () => {
    const quantities = travelling.filter(({ kind }) => kind === 'quantity');
    const reading = fc.constantFrom(...quantities).chain((slot) =>
      fc.record({
        slot: fc.constant(slot),
        value: fc.double({ min: slot.minimum ?? 0, max: slot.maximum ?? 0, noNaN: true }),
      }),
    );
    fc.assert(
      fc.property(reading, ({ slot, value }) => {
        const [back] = readingsFromTelemetry(telemetryFromReadings([{ slot, value, at: 0 }]));
        const step = slot.resolution as number;
        expect(Math.abs((back?.value as number) - value)).toBeLessThanOrEqual(
          step / 2 + Math.abs(value) * 1e-15 + 1e-12,
        );
      }),
      { numRuns: 1000 },
    );
  });

  test('is one series per slot, in the order of their ids, with differences of times and whole numbers', () => {
    const speed = slotOf('kinetic.speed');
    const locks = slotOf('doorsState.lockedStates');
    const telemetry = telemetryFromReadings([
      { slot: locks, value: ['SuperLocked', 'Unlocked'], at: 900 },
      { slot: speed, value: 50.25, at: 1000.4 },
      { slot: speed, value: 50.26, at: 1100 },
      { slot: speed, value: 0, at: 1050 },
    ]);
    expect(telemetry).toEqual({
      series: [
        { slot: speed.id, start: 1000, deltas: [100, -50], values: [5025, 5026, 0] },
        { slot: locks.id, start: 900, deltas: [], values: [0b101] },
      ],
    });
    expect(telemetryJson(telemetry)).toEqual({
      series: [
        { path: 'kinetic.speed', at: [1000, 1100, 1050], values: [50.25, 50.26, 0] },
        { path: 'doorsState.lockedStates', at: [900], values: [['Unlocked', 'SuperLocked']] },
      ],
    });
  });

  test('refuses what it cannot carry, and names it', () => {
    const refused = (path: string, value: Reading['value'], at = 0) =>
      expect(() => telemetryFromReadings([{ slot: slotOf(path), value, at }]), path).toThrowError(
        expect.objectContaining({ code: 'message.malformed', message: expect.stringContaining(path) }),
      );
    refused('ignition.type', 'Contact');
    refused('kinetic.speed', Number.NaN);
    refused('kinetic.speed', 'fast');
    refused('kinetic.speed', 50, Number.POSITIVE_INFINITY);
    refused('kinetic.moving', 1);
    refused('doorsState.lockedStates', ['Locked', 'Ajar']);
    refused('stolen.id', 'x');
    refused('stolen.startPosition', {});
    refused('alarm.trigger.startAt', 0.5);
    expect(slots.filter((slot) => !isTelemetry(slot)).map(({ kind }) => kind)).not.toContain('quantity');
  });

  test('of a newer sender is read as far as it is known; nothing is lost in JSON', () => {
    const ignition = slotOf('ignition.type').id;
    const telemetry = {
      series: [
        { slot: 0x7777, start: 1, deltas: [], values: [5] },
        { slot: ignition, start: 2, deltas: [1], values: [99, 0] },
      ],
    };
    expect(readingsFromTelemetry(telemetry)).toEqual([{ slot: slotOf('ignition.type'), value: 'Stop', at: 3 }]);
    expect(telemetryJson(telemetry).series).toEqual([
      { path: '#30583', at: [1], values: [5] },
      { path: 'ignition.type', at: [2, 3], values: [99, 'Stop'] },
    ]);
  });

  test('with columns of different length is refused', () => {
    const torn = { series: [{ slot: slotOf('kinetic.speed').id, start: 0, deltas: [1, 1], values: [1, 2] }] };
    for (const read of [readingsFromTelemetry, telemetryJson]) {
      expect(() => read(torn)).toThrowError(expect.objectContaining({ code: 'message.malformed' }));
    }
  });
});
