/** Answers of control units with expected values: from the naive decoder, and of real cars. */
import { describe, expect, it, test } from 'vitest';
import { ObdDecoder } from '../../adapters/obd/index.ts';
import { VigieError } from '../../protocol/errors.ts';
import { describeShared } from '../shared.ts';
import { type Car, type Expected, ownCars, sharedCars } from './answers.ts';

interface Outcome {
  readonly car: string;
  readonly command: string;
  readonly signal: string;
  readonly response: string;
  readonly expected: Expected;
  readonly actual: unknown;
}

/** Expected values are rounded to five decimals. */
const ROUNDING = 5.000001e-6;

/**
 * Known deviations of real cars, each with its cause. The test fails for a difference that is not listed, and for an
 * entry without a difference.
 */
const EXCEPTIONS: readonly { readonly cause: string; readonly holds: (outcome: Outcome) => boolean }[] = [
  {
    cause:
      'Fuel trim: the signal set adds -128 (its own min is -100, which then cuts), the expected value is raw × 100 / 128 - 100',
    holds: ({ signal, expected, actual }) =>
      /^(SHRT|LONG)FT/.test(signal) &&
      typeof expected === 'number' &&
      typeof actual === 'number' &&
      Math.abs(actual - Math.max(expected - 28, -100)) < 1e-5,
  },
  {
    cause: 'The command is of the make, whose signal set is another repository; the one of the model is empty',
    holds: ({ car, signal, actual }) =>
      car === 'Peugeot-208' && signal === 'PEUGEOT_HVBAT_SOC' && actual instanceof VigieError,
  },
];

interface Way {
  /** Whether the test names the command, or the decoder must recognise it from the answer. */
  readonly named: boolean;
  readonly byYear: boolean;
}

const ways: readonly Way[] = [
  { named: false, byYear: false },
  { named: false, byYear: true },
  { named: true, byYear: false },
];

function compare(cars: readonly Car[], { named, byYear }: Way): { total: number; differ: Outcome[] } {
  let total = 0;
  const differ: Outcome[] = [];
  for (const { name: car, sets, answers } of cars) {
    const undated = new ObdDecoder(sets);
    const dated = new Map<number, ObdDecoder>();
    for (const { year, command, response, expected } of answers()) {
      let decoder = undated;
      if (byYear) {
        decoder = dated.get(year) ?? new ObdDecoder(sets, { modelYear: year });
        dated.set(year, decoder);
      }
      let values: Readonly<Record<string, unknown>> | VigieError;
      try {
        values = decoder.decode(named ? { command, response } : { response }).values;
      } catch (error) {
        if (!(error instanceof VigieError)) throw error;
        values = error;
      }
      for (const [signal, value] of Object.entries(expected)) {
        total++;
        const actual = values instanceof VigieError ? values : values[signal];
        if (!agrees(actual, value)) differ.push({ car, command, signal, response, expected: value, actual });
      }
    }
  }
  return { total, differ };
}

function agrees(actual: unknown, expected: Expected): boolean {
  if (typeof expected === 'number' && typeof actual === 'number') {
    return Math.abs(actual - expected) <= Math.max(ROUNDING, Math.abs(expected) * 1e-9);
  }
  return expected === null ? actual === undefined : actual === expected;
}

describe('answers to every command', () => {
  it.each(ways)('decode like with the naive decoder: %o', (way) => {
    const { total, differ } = compare(ownCars(), way);
    expect(differ).toEqual([]);
    expect(total).toBeGreaterThan(7000);
  });

  test('of the file of features decode to values computed by hand', () => {
    const features = ownCars().find(({ name }) => name === 'features') as Car;
    const decoder = new ObdDecoder(features.sets);
    const valuesOf = (response: string) => ({ ...decoder.decode({ response }).values });
    // ISO 15765-2: a first frame contains the length, here 13 bytes each; consecutive frames are numbered from 1.
    expect(valuesOf('7E8 10 0D 62 F0 02 00 07 14\n7E8 21 00 00 FE 00 C8 80 00')).toEqual({
      SCALED: -37,
      CLAMPED: -50,
      CLAMPED_AT_ZERO: 0,
      UNBOUNDED: -128,
      // NULL_ABOVE is FE and NULL_BELOW is 00: neither has a value.
      NEGATIVE_STEP: 0,
      FUEL_TRIM: 0,
      // 0 × 100 / 128 - 128, limited by its own min.
      CUT_TRIM: -100,
    });
    expect(valuesOf('7E8 10 0D 62 F0 03 34 12 01\n7E8 21 02 03 F6 FF FF FF 2A')).toEqual({
      LEAST_FIRST_16: 0x1234,
      LEAST_FIRST_24: 0x030201,
      LEAST_FIRST_SIGNED: -1,
      LEAST_FIRST_BYTE: 42,
    });
    expect(valuesOf('758 2A 10 07 61 30 99 9A 9D\n758 2A 21 9C 57 00 00 00 00')).toEqual({
      BEHIND_ADDRESS: 0x99 / 58 - 0.5,
      BEHIND_ADDRESS_LAST: 1,
    });
    expect(valuesOf('18DAF110 05 62 D0 01 04 D2')).toEqual({ OF_29_BITS: 12.34 });
  });

  test('with a VIN in three frames decode as in the example of SAE J1979 §6.9', () => {
    const [standard] = ownCars() as [Car];
    const decoder = new ObdDecoder(standard.sets);
    const { values } = decoder.decode({
      response: '7E8 10 14 49 02 01 31 47 31\n7E8 21 4A 43 35 34 34 34 52\n7E8 22 37 32 35 32 33 36 37',
    });
    expect(values).toEqual({ Vin: '1G1JC5444R7252367' });
  });
});

describeShared('answers of real cars', () => {
  it.each(ways)('decode to the values of the collection: %o', (way) => {
    const { total, differ } = compare(sharedCars(), way);
    const unexplained = differ.filter((outcome) => !EXCEPTIONS.some(({ holds }) => holds(outcome)));
    expect(unexplained).toEqual([]);
    for (const { cause, holds } of EXCEPTIONS) expect(differ.some(holds), cause).toBe(true);
    expect(total).toBeGreaterThan(7000);
    expect((total - differ.length) / total).toBeGreaterThanOrEqual(0.995);
  });
});
