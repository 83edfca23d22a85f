import { deflateRawSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { integersOf } from '../../../protocol/columns/integers.ts';
import { NumberWriter } from '../../../protocol/columns/numbers.ts';
import { numberedSlots } from '../../../protocol/columns/slot-numbers.ts';
import { VigieError } from '../../../protocol/errors.ts';
import {
  type Reading,
  readingsFromTelemetry,
  type Telemetry,
  telemetryBounds,
  telemetryFromReadings,
  telemetryJson,
  telemetrySchema,
  telemetrySlots,
  timeResolutions,
} from '../../../protocol/schema/telemetry.ts';
import { type Slot, slotByPath, slots } from '../../../protocol/slots.ts';
import { readingsOf, slotNumbers } from '../columns/naive.ts';
import { slotValue } from './arbitrary.ts';

const valid = new Ajv2020({ strict: false }).compile(telemetrySchema);
const travelling = [...telemetrySlots];

const readingOf = (slot: Slot, at: fc.Arbitrary<number>): fc.Arbitrary<Reading> =>
  fc.record({ slot: fc.constant(slot), value: slotValue(slot), at });

/** Readings in random order, of few or many slots, far apart or close, some at equal times. */
const unordered: fc.Arbitrary<Reading[]> = fc
  .tuple(fc.integer({ min: 1, max: travelling.length }), fc.constantFrom(5, 10_000, 2 ** 42))
  .chain(([some, span]) =>
    fc.array(
      fc
        .constantFrom(...travelling.slice(0, some))
        .chain((slot) => readingOf(slot, fc.integer({ min: -span, max: span }))),
      { maxLength: 80 },
    ),
  );

/** Readings like those of a car: rows of signals, with gaps, jitter and a clock that may step back. */
const sampled: fc.Arbitrary<Reading[]> = fc
  .record({
    chosen: fc.subarray(travelling, { minLength: 1, maxLength: 12 }),
    steps: fc.array(
      fc.oneof(fc.integer({ min: 990, max: 1010 }), fc.integer({ min: -5000, max: 90_000 }), fc.constant(0)),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .chain(({ chosen, steps }) => {
    let at = 1_750_000_000_000;
    const rows = steps.map((step) => {
      at += step;
      return fc.tuple(
        ...chosen.map((slot) => fc.option(readingOf(slot, fc.constant(at)), { nil: undefined, freq: 4 })),
      );
    });
    return fc.tuple(...rows).map((all) => all.flat().filter((reading) => reading !== undefined));
  });

const readings = fc.oneof(unordered, sampled);

const slotOf = (path: string): Slot => {
  const slot = slotByPath.get(path);
  if (slot === undefined) throw new Error(`no slot ${path}`);
  return slot;
};

/** Sorts by slot, and keeps the order within a slot. */
const bySlot = (all: readonly Reading[]) => [...all].sort((a, b) => a.slot.id - b.slot.id);

/** Telemetry from columns given as numbers; a number in brackets is signed. */
function telemetryOf(numbers: readonly (number | readonly [number])[], start = 0): Telemetry {
  const writer = new NumberWriter();
  for (const number of numbers) {
    if (typeof number === 'number') writer.unsigned(number);
    else writer.signed(number[0]);
  }
  return { start, size: writer.written.length, columns: deflateRawSync(writer.written) };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
/** The columns before compression. */
function uncompressed(all: readonly Reading[]): string {
  let columns = '';
  telemetryFromReadings(all, {
    deflate(bytes) {
      columns = hex(bytes);
      return deflateRawSync(bytes);
    },
  });
  return columns;
}

describe('telemetry', () => {
  test('returns every reading to the last digit of the resolution', () => {
    fc.assert(
      fc.property(readings, (all) => {
        const telemetry = telemetryFromReadings(all);
        expect(valid(telemetry), JSON.stringify(valid.errors)).toBe(true);
        expect(readingsFromTelemetry(telemetry)).toEqual(bySlot(all));
      }),
      { numRuns: 500 },
    );
  });

  test('is read equally by a decoder written only from docs/wire-format.md', () => {
    fc.assert(
      fc.property(readings, fc.constantFrom(...timeResolutions), (all, resolution) => {
        const telemetry = telemetryFromReadings(all, { resolution, deflate: (bytes) => deflateRawSync(bytes) });
        const { start, size, columns } = telemetry;
        const ours = readingsFromTelemetry(telemetry).map(({ slot, value, at }) => [
          slot.id,
          at,
          integersOf(slot)?.count(value),
        ]);
        const sorted = readingsOf(start, size, columns).sort(([a], [b]) => a - b);
        expect(sorted).toEqual(ours);
        expect(sorted).toHaveLength(all.length);
      }),
      { numRuns: 300 },
    );
  });

  test('rounds times to the requested resolution of each slot', () => {
    fc.assert(
      fc.property(readings, fc.array(fc.constantFrom(...timeResolutions), { minLength: 1 }), (all, choices) => {
        const resolution = (slot: Slot) => choices[slot.index % choices.length]!;
        const back = readingsFromTelemetry(telemetryFromReadings(all, { resolution }));
        expect(back).toEqual(
          bySlot(all).map((reading) => {
            const step = resolution(reading.slot);
            return { ...reading, at: Math.round(reading.at / step) * step + 0 };
          }),
        );
      }),
      { numRuns: 300 },
    );
  });

  test('rounds values to the nearest step of the resolution', () => {
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

  test('golden: series with separate times', () => {
    const speed = slotOf('kinetic.speed');
    const locks = slotOf('doorsState.lockedStates');
    const all = [
      { slot: locks, value: ['SuperLocked', 'Unlocked'], at: 900 },
      { slot: speed, value: 50.25, at: 1000.4 },
      { slot: speed, value: 50.27, at: 1100 },
      { slot: speed, value: 50.23, at: 1050 },
    ];
    const golden =
      '01026400' + // resolution 1, 2 series, an interval of 100, no table
      '0131' + // slots 1 and 50
      '0200' + // of 3 readings and 1
      '0201' + // steps of 2 and 1
      'c24e0a' + // that start with 5025 and the set 0b101
      '02000100' + // 2 periods, 1, 0; 1
      '00006300' + // 50 before the time that 0 periods imply
      '0203'; // one step more, two less
    const telemetry = telemetryFromReadings(all);
    expect(uncompressed(all)).toBe(golden);
    expect(telemetryJson(telemetry)).toEqual({
      series: [
        { path: 'kinetic.speed', unit: 'km/h', at: [1000, 1100, 1050], values: [50.25, 50.27, 50.23] },
        { path: 'doorsState.lockedStates', at: [900], values: [['Unlocked', 'SuperLocked']] },
      ],
    });
  });

  test('golden: series with shared times', () => {
    const chosen = ['kinetic.speed', 'kinetic.acceleration', 'engines.Thermic.speed'].map(slotOf);
    const all = [0, 1000, 2003, 3000].flatMap((at, row) =>
      chosen.map((slot) => ({ slot, value: row * 10, at: 1_000_000 + at })),
    );
    const golden =
      '0103e80704' + // resolution 1, 3 series, an interval of 1000, 4 times
      '010109' + // slots 1, 2 and 11
      '030303' + // of 4 readings each
      'e807904e50' + // steps of 1000, 10000 and 80
      '000000' + // that start with 0
      '00000000' + // times: one period each
      '00000605' + // plus 3 ms
      '000000000000000000000000' + // at the next time each
      '020202020202020202'; // one step more each
    expect(uncompressed(all)).toBe(golden);
    expect(readingsFromTelemetry(telemetryFromReadings(all))).toEqual(bySlot(all));
  });

  test('identifies a slot without a number by its id', () => {
    const telemetry = telemetryOf([1, 2, 0, 0, 49, 0, 0x7777, 0, 0, 1, 1, [1], [5], [3], [4]], 1000);
    expect(telemetryJson(telemetry).series).toEqual([
      { path: 'ignition.type', at: [1003], values: ['StartUp'] },
      { path: '#30583', at: [1004], values: [5] },
    ]);
    expect(readingsFromTelemetry(telemetry)).toEqual([{ slot: slotOf('ignition.type'), value: 'StartUp', at: 1003 }]);
  });

  test('uses the slot numbers of docs/wire-format.md, and can represent their slots', () => {
    expect(slotNumbers.slice(1)).toEqual(numberedSlots);
    const known = new Set(travelling.map(({ id }) => id));
    expect(numberedSlots.filter((id) => !known.has(id))).toEqual([]);
  });

  test('refuses a value that it cannot represent, with its name', () => {
    const refused = (path: string, value: Reading['value'], at = 0) =>
      expect(() => telemetryFromReadings([{ slot: slotOf(path), value, at }]), path).toThrowError(
        expect.objectContaining({ code: 'message.malformed', message: expect.stringContaining(path) }),
      );
    refused('ignition.type', 'Contact');
    refused('kinetic.speed', Number.NaN);
    refused('kinetic.speed', 'fast');
    refused('kinetic.speed', 50, Number.POSITIVE_INFINITY);
    refused('kinetic.speed', 50, 2 ** 52);
    refused('kinetic.moving', 1);
    refused('doorsState.lockedStates', ['Locked', 'Ajar']);
    refused('stolen.id', 'x');
    refused('stolen.startPosition', {});
    refused('alarm.trigger.startAt', 0.5);
    refused('alarm.trigger.startAt', 2 ** 52);
    expect(slots.filter((slot) => !telemetrySlots.has(slot)).map(({ kind }) => kind)).not.toContain('quantity');
  });

  test('accepts readings up to the limit, whatever their kind', () => {
    const slot = slotOf('alarm.trigger.startAt');
    const wild = (count: number): Reading[] =>
      Array.from({ length: count }, (_, i) => ({
        slot,
        value: (i % 2 === 0 ? 1 : -1) * (2 ** 51 - ((i * 7919) % 1e6)),
        at: (i % 2 === 0 ? -1 : 1) * (2 ** 49 + ((i * 104_729) % 1e6)),
      }));
    const most = wild(telemetryBounds.readings);
    const telemetry = telemetryFromReadings(most);
    expect(valid(telemetry)).toBe(true);
    expect(telemetry.size).toBeLessThanOrEqual(telemetryBounds.size);
    expect(readingsFromTelemetry(telemetry)).toEqual(most);
    expect(() => telemetryFromReadings(wild(telemetryBounds.readings + 1))).toThrow(
      expect.objectContaining({ code: 'message.unbounded' }),
    );
  });

  test('omits an unknown name from a newer sender in readings, but not in JSON', () => {
    const telemetry = telemetryOf([1, 1, 0, 0, 49, 1, 1, [99], [2], [1], [-99]]);
    expect(readingsFromTelemetry(telemetry)).toEqual([{ slot: slotOf('ignition.type'), value: 'Stop', at: 3 }]);
    expect(telemetryJson(telemetry).series).toEqual([{ path: 'ignition.type', at: [2, 3], values: [99, 'Stop'] }]);
  });

  test.each<[string, readonly (number | readonly [number])[]]>([
    ['a tick of no length', [0, 1, 0, 0, 1, 0, 1, [0], [0]]],
    ['a tick of hours', [3_600_000, 1, 0, 0, 1, 0, 1, [0], [0]]],
    ['no series', [1, 0, 0, 0, 1, 0, 1, [0], [0]]],
    ['more series than there are bytes', [1, 90, 0, 0, 1, 0, 1, [0], [0]]],
    ['more times than there are bytes', [1, 1, 0, 90, 1, 0, 1, [0], [0]]],
    ['more readings than there are bytes', [1, 1, 0, 0, 1, 5, 1, [0], [0]]],
    ['a slot number that does not exist', [1, 1, 0, 0, 100, 0, 1, [0], [0]]],
    ['a step of 0', [1, 1, 0, 0, 1, 0, 0, [0], [0]]],
    ['a value beyond 2^51', [1, 1, 0, 0, 1, 0, 1, [2 ** 52], [0]]],
    ['a value that grows beyond 2^51', [1, 1, 0, 0, 1, 1, 2 ** 40, [1], [0], [0], [2 ** 40]]],
    ['a time beyond 2^51', [1, 1, 0, 0, 1, 0, 1, [0], [2 ** 52]]],
    ['a time that is not in the table', [1, 1, 0, 1, 1, 0, 1, [0], [0], [1]]],
    ['an interval beyond 2^31', [1, 1, 2 ** 40, 0, 1, 0, 1, [0], [0], [0]]],
    ['the end in the middle', [1, 1, 0, 0, 1, 1, 1, [0], [0], [0]]],
    ['the beginning of another block', [1, 1, 0, 0, 1, 0, 1, [0], [0], 1]],
  ])('%s is refused', (_, numbers) => {
    for (const read of [readingsFromTelemetry, telemetryJson]) {
      expect(() => read(telemetryOf(numbers))).toThrowError(expect.objectContaining({ code: 'message.malformed' }));
    }
  });

  test('refuses a size beyond the limit before it allocates memory', () => {
    const columns = deflateRawSync(new Uint8Array(10_000_000));
    expect(() => readingsFromTelemetry({ start: 0, size: 10_000_000, columns })).toThrow(
      expect.objectContaining({ code: 'message.unbounded' }),
    );
    expect(() => readingsFromTelemetry({ start: 0, size: 1000, columns })).toThrow(/and is to give only 1000/);
  });

  test('of any bytes yields readings or a VigieError', () => {
    const columns = fc
      .array(fc.oneof(fc.nat(3), fc.nat(255)), { maxLength: 60 })
      .map((bytes) => Uint8Array.from(bytes));
    fc.assert(
      fc.property(columns, fc.boolean(), fc.maxSafeInteger(), (bytes, compressed, start) => {
        const telemetry = { start, size: bytes.length, columns: compressed ? deflateRawSync(bytes) : bytes };
        try {
          telemetryJson(telemetry);
          readingsFromTelemetry(telemetry);
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test('with mutated columns yields readings or a VigieError', () => {
    const change = fc.tuple(fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(readings, fc.array(change, { minLength: 1, maxLength: 4 }), (all, changes) => {
        let columns: Uint8Array = new Uint8Array();
        const { start, size } = telemetryFromReadings(all, {
          deflate(bytes) {
            columns = Uint8Array.from(bytes);
            return columns;
          },
        });
        for (const [at, byte] of changes) if (size > 0) columns[at % size] = byte;
        try {
          readingsFromTelemetry({ start, size, columns: deflateRawSync(columns) });
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
