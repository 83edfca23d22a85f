/** Suggestions from several DBC files that overlap, and from what a log shows. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { vigie } from '../../rig/bench.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-several-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

function dbc(name: string, ...messages: readonly (readonly [number, string, ...string[]])[]): string {
  const text = messages.map(
    ([id, message, ...signals]) => `BO_ ${id} ${message}: 8 X\n${signals.map((one) => ` SG_ ${one} X\n`).join('')}`,
  );
  writeFileSync(at(name), `VERSION ""\n\nBU_: X\n\n${text.join('\n')}`);
  return at(name);
}

const car = dbc(
  'car.dbc',
  [291, 'CLUSTER', 'Odometer : 0|24@1+ (0.1,0) [0|1000000] "km"', 'TripDistance : 24|16@1+ (0.1,0) [0|5000] "km"'],
  [292, 'MOTION', 'VehicleSpeed : 0|16@1+ (0.01,0) [0|300] "km/h"', 'SpeedValid : 16|1@1+ (1,0) [0|1] ""'],
  [293, 'TRACTION_BATTERY', 'StateOfCharge : 0|8@1+ (0.5,0) [0|100] "%"', 'Range : 8|16@1+ (0.1,0) [0|1000] "km"'],
);
/** Describes the same identifiers as other things, and many that the log does not have. */
const other = dbc(
  'another.dbc',
  [291, 'BODY', 'OutsideTemp : 0|8@1+ (0.5,-40) [-40|80] "degC"', 'Never : 56|8@1+ (1,0) [0|1] ""'],
  [292, 'LAMPS', 'LowBeam : 0|1@1+ (1,0) [0|1] ""'],
  ...[...Array(20).keys()].map((i): [number, string, string] => [
    800 + i,
    `ABSENT${i}`,
    `Odometer${i} : 0|24@1+ (0.1,0) [0|1000000] "km"`,
  ]),
);
/** A part of the same car: another odometer that never comes. */
const part = dbc(
  'part.dbc',
  [291, 'CLUSTER_OLD', 'TotalDistance : 0|16@1+ (1,0) [0|65535] "km"'],
  [1201, 'UNSEEN', 'Level : 0|8@1+ (1,0) [0|255] ""'],
  [1200, 'DISPLAY', 'TotalVehicleDistance : 0|32@1+ (1,0) [0|4000000] "km"'],
);

function le(value: number, bytes: number): string {
  return Array.from({ length: bytes }, (_, i) => ((value >>> (8 * i)) & 0xff).toString(16).padStart(2, '0')).join('');
}

/** Ten seconds without a valid speed, then forty with one. */
function log(name: string, invalidSpeed: number): string {
  const lines = [...Array(100).keys()].flatMap((half) => {
    const time = (1_700_000_000 + half / 2).toFixed(6);
    const valid = half >= 20;
    const speed = le(valid ? half * 50 : invalidSpeed, 2);
    return [
      `(${time}) can0 123#${le(500_000 + half, 3)}${le(half, 2)}000000`,
      `(${time}) can0 124#${speed}0${valid ? 1 : 0}0000000000`,
      `(${time}) can0 125#${le(160 - Math.floor(half / 10), 1)}${le(3000 - half, 2)}0000000000`,
    ];
  });
  writeFileSync(at(name), `${lines.join('\n')}\n`);
  return at(name);
}

function orders<T>(all: readonly T[]): T[][] {
  if (all.length < 2) return [[...all]];
  return all.flatMap((one, i) => orders([...all.slice(0, i), ...all.slice(i + 1)]).map((rest) => [one, ...rest]));
}

const drive = log('drive.log', 0);

describe('several DBC files for one log', () => {
  test('give the same profile in every order: the one that fits describes the frames', async () => {
    const texts = new Set<string>();
    for (const [i, order] of orders([car, other, part]).entries()) {
      const file = at(`order${i}.yaml`);
      const { status, stderr } = await vigie('inspect', drive, '--dbc', ...order, '--suggest', file);
      expect(status, stderr).toBe(0);
      expect(stderr).toContain(`vigie: ${part} fits 33 % of the frames`);
      expect(stderr).not.toContain(`vigie: ${car} fits`);
      texts.add(readFileSync(file, 'utf8').replaceAll(`order${i}`, 'order'));
    }
    expect(texts.size).toBe(1);
    const profile = parse([...texts][0] as string);
    expect(profile.buses).toEqual([{ name: 'car', dbc: ['car.dbc'] }]);
    expect(profile.status['odometer.mileage'].signal).toBe('CLUSTER.Odometer');
    expect(profile.status['kinetic.speed'].signal).toBe('MOTION.VehicleSpeed');
    expect(Object.keys(profile.status)).not.toContain('environment.air.temp');
  });

  test('of which one describes another car name that one, and leave out its signals', async () => {
    const { stderr } = await vigie('inspect', drive, '--dbc', part, car, '--suggest', at('named.yaml'));
    expect(stderr).toContain(
      `vigie: ${part} fits 33 % of the frames: it is probably of another car or bus, and its signals are left out\n`,
    );
    expect(stderr).not.toContain(`${car} fits`);
  });

  test('a single DBC that hardly fits is named, and used', async () => {
    const lonely = dbc(
      'lonely.dbc',
      [292, 'MOTION', 'VehicleSpeed : 0|16@1+ (0.01,0) [0|300] "km/h"'],
      [900, 'A', 'B : 0|8@1+ (1,0) [0|1] ""'],
      [901, 'C', 'D : 0|8@1+ (1,0) [0|1] ""'],
    );
    const { stderr } = await vigie('inspect', drive, '--dbc', lonely, '--suggest', at('lonely.yaml'));
    expect(stderr).toContain(`vigie: ${lonely} fits 33 % of the frames: it is probably of another car or bus\n`);
    expect(stderr).toContain('1 path mapped');
  });
});

test('only what the log shows is suggested, and replay has a value of every mapped path', async () => {
  const file = at('shown.yaml');
  const whole = dbc(
    'whole.dbc',
    [291, 'CLUSTER', 'Odometer : 0|24@1+ (0.1,0) [0|1000000] "km"', 'CoolantTemp : 40|8@1+ (1,-40) [-39|215] "degC"'],
    [1300, 'CLIMATE', 'OutsideTemperature : 0|8@1+ (0.5,-40) [-40|80] "degC"'],
  );
  const { status, stderr } = await vigie('inspect', drive, '--dbc', whole, '--suggest', file);
  expect(status, stderr).toBe(0);
  // The log has no frame of CLIMATE, and only a value outside the range of the coolant.
  expect(Object.keys(parse(readFileSync(file, 'utf8')).status)).toEqual(['odometer.mileage']);
  expect(stderr).toContain('1 path mapped');
  expect(readFileSync(file, 'utf8').replaceAll('\n# ', ' ')).toMatch(/not found: .*environment\.air\.temp/);
});

test('the range of a car that shows a traction battery and no fuel is electric', async () => {
  const file = at('electric.yaml');
  await vigie('inspect', drive, '--dbc', car, '--suggest', file);
  const { status, constants } = parse(readFileSync(file, 'utf8'));
  expect(constants).toEqual({ 'energies.Electric.subType': 'ElectricEnergy' });
  expect(status['energies.Electric.autonomy'].signal).toBe('TRACTION_BATTERY.Range');
  expect(status['energies.Electric.level'].signal).toBe('TRACTION_BATTERY.StateOfCharge');
});

describe('a signal that states the validity of another', () => {
  test('makes values invalid that only come while it says so', async () => {
    const file = at('valid.yaml');
    await vigie('inspect', log('codes.log', 29_999), '--dbc', car, '--suggest', file);
    const profile = parse(readFileSync(file, 'utf8'));
    expect(profile.status['kinetic.speed']).toMatchObject({ signal: 'MOTION.VehicleSpeed', invalid: [29_999, 0xffff] });
  });

  test('is named where invalid values look like valid ones', async () => {
    const file = at('unclear.yaml');
    const stops = log('stops.log', 1000);
    await vigie('inspect', stops, '--dbc', car, '--suggest', file);
    const text = readFileSync(file, 'utf8').replaceAll(/\n {2}# /g, ' ');
    expect(text).toContain(
      'SpeedValid states its validity: the profile does not use it, and the log has invalid values that look like valid ones',
    );
    expect(text).toContain('Lines that do not name a signal for their validity have none');
  });
});
