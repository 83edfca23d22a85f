/**
 * Compares our table of service 01 with Annex B of the standard, rewritten as formulae, and (with the optional shared
 * data) with a foreign table and its values for answers of real cars. That table has different names: signals
 * correspond if they have the same parameter and bits.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { type ObdCommand, ObdDecoder, type ObdSignal, parseSignalSet } from '../../../../adapters/obd/index.ts';
import { chance } from '../../../golden/naive-frames.ts';
import { printed } from '../../../golden/naive-isotp.ts';
import { describeShared, sharedData } from '../../../shared.ts';
import { standard } from '../standard.ts';
import { annexB, flagsOfAnnexB } from './annex-b.ts';

const ours = standard();

/** Values decoded from an answer to a parameter of service 01. */
function decoded(parameter: string, data: readonly number[]): Readonly<Record<string, unknown>> {
  const payload = [0x41, Number.parseInt(parameter, 16), ...data];
  return new ObdDecoder([ours]).decode({ response: printed(payload, { header: '7E8', spaces: true }) }).values;
}

/** Payloads that exercise a formula: all bytes minimal, maximal, and random. */
function payloads(length: number, seed: number): number[][] {
  const next = chance(seed);
  const filled = (byte: number): number[] => Array.from({ length }, () => byte);
  return [filled(0), filled(0xff), filled(0x80), ...Array.from({ length: 5 }, () => Array.from({ length }, next))];
}

const lengthOf = (parameter: string): number => {
  const command = ours.commands.find((one) => one.parameter === parameter);
  return Math.max(...(command?.signals ?? []).map(({ format: { bix, len } }) => Math.ceil((bix + len) / 8)));
};

describe('service 01 compared with Annex B of the standard', () => {
  test.each(Object.entries(annexB))('%s: every number equals its formula', (parameter, formulae) => {
    for (const data of payloads(lengthOf(parameter), Number.parseInt(parameter, 16))) {
      const values = decoded(parameter, data);
      for (const [name, formula] of Object.entries(formulae)) {
        const expected = formula(...data);
        if (Number.isNaN(expected)) expect(values[name], name).toBeUndefined();
        else expect(values[name], `${name} of ${data}`).toBeCloseTo(expected, 9);
      }
    }
  });

  test.each(Object.entries(flagsOfAnnexB))('%s: every flag equals its bit', (parameter, bytes) => {
    for (const data of payloads(lengthOf(parameter), Number.parseInt(parameter, 16))) {
      const values = decoded(parameter, data);
      for (const [byte, names] of Object.entries(bytes)) {
        for (const [bit, name] of names.split(' ').entries()) {
          if (name === '-') continue;
          const set = Math.floor((data[Number(byte)] as number) / 2 ** bit) % 2;
          expect(values[name], `${name} of ${data}`).toBe(set);
        }
      }
    }
  });

  test('every number of the set has a formula', () => {
    const without = ours.commands.flatMap(({ parameter, signals }) =>
      signals
        .filter(({ id, format: { len, map } }) => len > 1 && map === undefined && annexB[parameter]?.[id] === undefined)
        .map(({ id }) => `${parameter} ${id}`),
    );
    expect(without).toEqual([]);
    expect(Object.values(annexB).flatMap(Object.keys).length).toBeGreaterThan(280);
  });

  // Annex B lists minimum and maximum of each; the others are computed from its scaling.
  test.each([
    ['04', [0xff], { EngineLoad: 100 }],
    ['05', [0x00], { CoolantTemperature: -40 }],
    ['05', [0x7b], { CoolantTemperature: 83 }],
    ['06', [0x00], { ShortFuelTrim1: -100 }],
    ['06', [0x80], { ShortFuelTrim1: 0 }],
    ['06', [0xff], { ShortFuelTrim1: 99.21875 }],
    ['0A', [0xff], { FuelPressure: 765 }],
    ['0C', [0x1a, 0xf8], { EngineSpeed: 1726, EngineRunning: 1 }],
    ['0C', [0xff, 0xff], { EngineSpeed: 16_383.75, EngineRunning: 1 }],
    ['0C', [0x00, 0x00], { EngineSpeed: 0, EngineRunning: 0 }],
    ['0D', [0xff], { VehicleSpeed: 255 }],
    ['0E', [0x00], { IgnitionAdvance: -64 }],
    ['0E', [0xff], { IgnitionAdvance: 63.5 }],
    ['10', [0xff, 0xff], { AirFlow: 655.35 }],
    ['14', [0xff, 0x00], { OxygenVoltage11: 1.275, OxygenTrim11: -100 }],
    ['14', [0x5a, 0xff], { OxygenVoltage11: 0.45 }],
    ['1F', [0x0e, 0x10], { RunTime: 3600 }],
    ['23', [0xff, 0xff], { FuelRailPressure: 655_350 }],
    ['32', [0x80, 0x00], { EvaporativePressure: -8192 }],
    ['32', [0x7f, 0xff], { EvaporativePressure: 8191.75 }],
    ['33', [0x65], { BarometricPressure: 101 }],
    ['34', [0x80, 0x00, 0x80, 0x00], { LambdaCurrent11Ratio: 1, LambdaCurrent11: 0 }],
    ['3C', [0xff, 0xff], { CatalystTemperature11: 6513.5 }],
    ['42', [0x30, 0xd4], { ModuleVoltage: 12.5 }],
    ['44', [0x80, 0x00], { CommandedRatio: 1 }],
    ['5C', [0xff], { OilTemperature: 215 }],
    ['5D', [0x69, 0x00], { InjectionTiming: 0 }],
    ['5E', [0x01, 0x90], { FuelRate: 20 }],
    ['61', [0x00], { TorqueDemanded: -125 }],
    ['A6', [0x00, 0x01, 0xe2, 0x40], { Odometer: 12_345.6 }],
  ] as const)('%s %j is %j', (parameter, data, expected) => {
    expect({ ...decoded(parameter, data) }).toEqual(expected);
  });

  // §B.2 (fuel system), §B.5 (secondary air), and the table of fuel types in Annex B.
  test.each([
    ['03', [0x02, 0x00], 'FuelSystem1'],
    ['12', [0x01], 'SecondaryAir'],
    ['51', [0x04], 'FuelType'],
  ] as const)('%s %j has the name of its state: %s', (parameter, data, name) => {
    const found = decoded(parameter, data)[name];
    const states = { FuelSystem1: /CLOSED/, SecondaryAir: /UPSTREAM/, FuelType: /DIESEL/ };
    expect(found).toMatch(states[name]);
  });
});

const folder = join(sharedData, 'obd');

interface Pair {
  readonly command: ObdCommand;
  readonly theirs: ObdSignal;
  readonly mine: ObdSignal;
}

/** Pairs of signals with the same parameter and bits, and foreign signals without a counterpart. */
function pairs(): { readonly found: Map<string, Pair>; readonly alone: string[] } {
  const file = join(folder, 'SAEJ1979', 'signalsets', 'v3', 'default.json');
  const found = new Map<string, Pair>();
  const alone: string[] = [];
  for (const command of parseSignalSet(readFileSync(file, 'utf8'), file).commands) {
    const same = ours.commands.find(
      ({ service, parameter }) => service === command.service && parameter === command.parameter,
    );
    for (const theirs of command.signals) {
      const candidates = (same?.signals ?? []).filter(
        ({ format: { bix, len } }) => bix === theirs.format.bix && len === theirs.format.len,
      );
      const mine = candidates.find(({ format: { mul } }) => mul === theirs.format.mul) ?? candidates[0];
      if (mine === undefined) alone.push(`${command.parameter} ${theirs.id}`);
      else found.set(`${command.parameter} ${theirs.id}`, { command, theirs, mine });
    }
  }
  return { found, alone };
}

/** Formulas that differ for a known reason. All others are the same function of the raw value. */
const DIFFERENT: readonly { readonly cause: string; readonly parameters: RegExp; readonly signals?: RegExp }[] = [
  {
    cause:
      'Percentages around zero: theirs adds -128 after scaling by 100/128 and cuts at -100, the standard adds -100',
    parameters: /^(0[6-9]|1[4-9A-B]|2D|5[5-8]|69)$/,
    signals: /(FT|ERR)/,
  },
  { cause: 'Vapour pressure: ours is in pascal, theirs in kilopascal', parameters: /^(32|54)$/ },
  { cause: 'Equivalence ratio: 2/65536 in the standard, 2/65535 in theirs', parameters: /^44$/ },
  { cause: 'Oxygen sensor voltage: 8/65536 in the standard, 1/8196 in theirs', parameters: /^24$/, signals: /VOLT/ },
  { cause: 'Injection timing: -210 behind the scaling in the standard, -38665 in theirs', parameters: /^5D$/ },
  {
    cause: 'Bounds: theirs takes 255 km/h and an empty tank for "no value", the standard does not',
    parameters: /^(0D|2F)$/,
  },
  { cause: 'Bounds: theirs cuts where the bits could say more', parameters: /^(5C|5E)$/ },
  { cause: 'Minus 40 °C is a temperature in the standard, "no value" in theirs', parameters: /^68$/ },
];

/** Expected values that differ from ours for a known reason. */
const EXPECTED: readonly {
  readonly cause: string;
  readonly holds: (parameter: string, id: string, expected: unknown) => boolean;
}[] = [
  {
    cause: 'Equivalence ratio: 2/65536 in the standard, 2/65535 in theirs, cut at 1.99',
    holds: (parameter, _, expected) => parameter === '44' || (parameter === '34' && expected === 1.99),
  },
  {
    cause: 'Oxygen sensor voltage: 8/65536 in the standard, 1/8196 in theirs',
    holds: (parameter, id) => parameter === '24' && id.endsWith('_VOLT'),
  },
  {
    cause: 'Two control units answered, 7E9 first; ours is asked of all, and of equally good answers the first counts',
    holds: (parameter, _, expected) => parameter === '05' && expected === 79,
  },
];

function explained(parameter: string, id: string): boolean {
  return DIFFERENT.some(({ parameters, signals }) => parameters.test(parameter) && (signals?.test(id) ?? true));
}

describeShared('service 01 beside an independent table', () => {
  const { found, alone } = pairs();

  it('our table has every signal of the foreign table', () => {
    expect(alone).toEqual([
      // The foreign table reads three of eight bits, which misses the fourth state.
      '12 AIR_STAT',
      // In the foreign table they are in the byte of support bits; the standard has them in the next byte.
      '9A HEV_MODE',
      '9A EHEV_MODE',
    ]);
    expect(found.size).toBeGreaterThan(280);
  });

  it('our table computes the same values as the foreign table', () => {
    const differ: string[] = [];
    for (const { command, theirs, mine } of found.values()) {
      const a = theirs.format;
      const b = mine.format;
      if (a.map !== undefined || b.map !== undefined || a.len > 32) continue;
      for (const raw of [0, 1, 2 ** a.len - 1, 2 ** (a.len - 1), Math.floor(2 ** a.len / 3)]) {
        const [x, y] = [a, b].map((format) => {
          const signed = format.sign && raw >= 2 ** (format.len - 1) ? raw - 2 ** format.len : raw;
          const value = (signed * format.mul) / format.div + format.add;
          if (format.nullmin !== undefined && value <= format.nullmin) return Number.NaN;
          if (format.nullmax !== undefined && value >= format.nullmax) return Number.NaN;
          return Math.min(Math.max(value, format.min ?? (format.max === undefined ? value : 0)), format.max ?? value);
        }) as [number, number];
        if (Object.is(x, y) || Math.abs(x - y) <= Math.max(0.01, Math.abs(y) * 2e-4)) continue;
        if (!explained(command.parameter, theirs.id))
          differ.push(`${command.parameter} ${theirs.id} of ${raw}: ${x}, ours ${y}`);
      }
    }
    expect(differ).toEqual([]);
  });

  it('answers of real cars decode to the expected values', () => {
    const decoder = new ObdDecoder([ours]);
    let compared = 0;
    const differ: string[] = [];
    for (const repository of readdirSync(folder)) {
      const years = join(folder, repository, 'tests', 'test_cases');
      if (!existsSync(years)) continue;
      for (const year of readdirSync(years)) {
        const commands = join(years, year, 'commands');
        if (!existsSync(commands)) continue;
        for (const file of readdirSync(commands)) {
          const { command_id, test_cases } = parse(readFileSync(join(commands, file), 'utf8')) as {
            command_id: string;
            test_cases: { response: string; expected_values: Record<string, unknown> }[];
          };
          const parameter = /(?:^|\.)01([0-9A-F]{2})$/.exec(command_id)?.[1];
          if (parameter === undefined) continue;
          for (const { response, expected_values } of test_cases) {
            const { values } = decoder.decode({ command: command_id, response });
            for (const [id, expected] of Object.entries(expected_values)) {
              const pair = found.get(`${parameter} ${id}`);
              if (pair === undefined) continue;
              compared++;
              if (same(pair, expected, values[pair.mine.id])) continue;
              if (EXPECTED.some(({ holds }) => holds(parameter, id, expected))) continue;
              differ.push(`${year} ${command_id} ${id}: ${expected}, ours ${values[pair.mine.id]}`);
            }
          }
        }
      }
    }
    expect(differ).toEqual([]);
    expect(compared).toBeGreaterThan(300);
  });
});

/** The names differ, so compare the raw value that each name stands for. */
function same({ theirs, mine }: Pair, expected: unknown, actual: unknown): boolean {
  if (theirs.format.map !== undefined || mine.format.map !== undefined) {
    return rawOf(theirs, expected) === rawOf(mine, actual);
  }
  if (expected === null) return actual === undefined;
  return typeof expected === 'number' && typeof actual === 'number' && Math.abs(expected - actual) <= 5.000001e-6;
}

function rawOf({ format }: ObdSignal, value: unknown): string {
  const entry = [...(format.map ?? [])].find(([, name]) => name === value);
  return entry === undefined ? String(value) : entry[0];
}
