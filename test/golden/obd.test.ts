/**
 * Answers of real cars with the values that the collection expects of them: signal sets as they are, one file of
 * answers per command and model year.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { ObdDecoder, parseSignalSet, type SignalSet } from '../../adapters/obd/index.ts';
import { VigieError } from '../../protocol/errors.ts';
import { describeShared, sharedData } from '../shared.ts';

interface Case {
  readonly repository: string;
  readonly year: number;
  readonly command: string;
  readonly response: string;
  readonly expected: Readonly<Record<string, number | string | boolean | null>>;
}

interface Outcome {
  readonly repository: string;
  readonly command: string;
  readonly signal: string;
  readonly expected: number | string | boolean | null;
  readonly actual: unknown;
}

const folder = join(sharedData, 'obd');

/** Expected values are rounded to five decimals. */
const ROUNDING = 5.000001e-6;

/**
 * Values that do not agree, each with its cause. A difference that is not listed, and a listed one that is none,
 * fail the test.
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
    holds: ({ repository, signal, actual }) =>
      repository === 'Peugeot-208' && signal === 'PEUGEOT_HVBAT_SOC' && actual instanceof VigieError,
  },
];

function repositories(): string[] {
  return readdirSync(folder).filter((name) => existsSync(join(folder, name, 'tests', 'test_cases')));
}

function* casesOf(repository: string): Iterable<Case> {
  const years = join(folder, repository, 'tests', 'test_cases');
  for (const year of readdirSync(years)) {
    const commands = join(years, year, 'commands');
    if (!existsSync(commands)) continue;
    for (const file of readdirSync(commands)) {
      const { command_id, test_cases } = parse(readFileSync(join(commands, file), 'utf8')) as {
        command_id: string;
        test_cases: { response: string; expected_values: Case['expected'] }[];
      };
      for (const { response, expected_values } of test_cases) {
        yield { repository, year: Number(year), command: command_id, response, expected: expected_values };
      }
    }
  }
}

function signalSet(repository: string): SignalSet {
  const file = join(folder, repository, 'signalsets', 'v3', 'default.json');
  return parseSignalSet(readFileSync(file, 'utf8'), file);
}

function compare(options: { readonly named: boolean; readonly byYear: boolean }): { total: number; differ: Outcome[] } {
  const standard = signalSet('SAEJ1979');
  let total = 0;
  const differ: Outcome[] = [];
  for (const repository of repositories()) {
    const sets = [standard, signalSet(repository)];
    const undated = new ObdDecoder(sets);
    const dated = new Map<number, ObdDecoder>();
    for (const { year, command, response, expected } of casesOf(repository)) {
      let decoder = undated;
      if (options.byYear) {
        decoder = dated.get(year) ?? new ObdDecoder(sets, { modelYear: year });
        dated.set(year, decoder);
      }
      let values: Readonly<Record<string, unknown>> | VigieError;
      try {
        values = decoder.decode(options.named ? { command, response } : { response }).values;
      } catch (error) {
        if (!(error instanceof VigieError)) throw error;
        values = error;
      }
      for (const [signal, value] of Object.entries(expected)) {
        total++;
        const actual = values instanceof VigieError ? values : values[signal];
        if (!agrees(actual, value)) differ.push({ repository, command, signal, expected: value, actual });
      }
    }
  }
  return { total, differ };
}

function agrees(actual: unknown, expected: number | string | boolean | null): boolean {
  if (typeof expected === 'number' && typeof actual === 'number') {
    return Math.abs(actual - expected) <= Math.max(ROUNDING, Math.abs(expected) * 1e-9);
  }
  return expected === null ? actual === undefined : actual === expected;
}

describeShared('answers of real cars', () => {
  it.each([
    { named: false, byYear: false },
    { named: false, byYear: true },
    { named: true, byYear: false },
  ])('decode as the collection expects: %o', (options) => {
    const { total, differ } = compare(options);
    const unexplained = differ.filter((outcome) => !EXCEPTIONS.some(({ holds }) => holds(outcome)));
    expect(unexplained).toEqual([]);
    for (const { cause, holds } of EXCEPTIONS) expect(differ.some(holds), cause).toBe(true);
    expect(total).toBeGreaterThan(7000);
    expect((total - differ.length) / total).toBeGreaterThanOrEqual(0.995);
  });
});
