/** Report of replay about refused values, one test for each rule, and about paths without a value. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Channels } from '../../agent/model/channels.ts';
import { Mapping } from '../../agent/model/mapping.ts';
import { Status } from '../../agent/model/status.ts';
import { Refusals } from '../../commands/refusals.ts';
import type { SourceMapping } from '../../protocol/profile.ts';
import { vigie } from '../rig/bench.ts';

const T = Date.UTC(2026, 0, 1);

function source(path: string, rest: Partial<SourceMapping> = {}): SourceMapping {
  return { path, message: 'M', signal: path, scale: 1, offset: 0, invalid: [], priority: 0, ...rest };
}

/** Lines after the readings. Each frame is a list of values by path, one second apart. */
function told(sources: readonly SourceMapping[], ...frames: readonly Readonly<Record<string, number>>[]): string[] {
  const status = new Status();
  const channels = new Channels();
  const refusals = new Refusals();
  const profile = {
    name: 'test',
    telemetry: {},
    waypoints: { interval: 1, distance: 1, heading: 1, error: 10 },
    commands: {},
  };
  const mapping = new Mapping(status, channels, { ...profile, sources, constants: {} }, refusals);
  status.observe(refusals);
  channels.observe(refusals);
  for (const [second, frame] of frames.entries()) {
    const at = T + second * 1000;
    for (const [path, value] of Object.entries(frame)) {
      const index = mapping.wanted.findIndex(({ signal }) => signal === path);
      mapping.reading(index, value, value, at);
    }
    mapping.settled(at);
  }
  return refusals.lines(sources, () => false);
}

describe('refused values', () => {
  test('values above the range of the path are reported with count, limit and extreme', () => {
    const lines = told(
      [source('kinetic.speed', { scale: 3.6 })],
      { 'kinetic.speed': 10 },
      { 'kinetic.speed': 200 },
      { 'kinetic.speed': 300 },
    );
    expect(lines).toEqual([
      'refused values:',
      '  kinetic.speed: 2 times above 655.35 km/h, such as 1080 km/h (raw 300)',
    ]);
  });

  test('values below the range of the path are reported', () => {
    const lines = told(
      [source('kinetic.speed')],
      { 'kinetic.speed': 10 },
      { 'kinetic.speed': -3 },
      { 'kinetic.speed': -7 },
    );
    expect(lines).toEqual(['refused values:', '  kinetic.speed: 2 times below 0 km/h, such as -7 km/h (raw -7)']);
  });

  test('raw values missing in the map are listed', () => {
    const ignition = source('ignition.type', { map: { 0: 'Stop', 3: 'Start' } });
    const lines = told([ignition], ...[0, 1, 2, 1].map((value) => ({ 'ignition.type': value })));
    expect(lines).toEqual(['refused values:', '  ignition.type: 3 times not in the map: raw 1, 2']);
  });

  test('a long list of raw values missing in the map is cut', () => {
    const ignition = source('ignition.type', { map: { 0: 'Stop' } });
    const lines = told([ignition], ...[...Array(20).keys()].map((value) => ({ 'ignition.type': value })));
    expect(lines[1]).toBe('  ignition.type: 19 times not in the map: raw 1, 2, 3, 4, 5, …');
  });

  test('a value that is not a number is reported', () => {
    const lines = told([source('kinetic.speed')], { 'kinetic.speed': 10 }, { 'kinetic.speed': Number.NaN });
    expect(lines[1]).toBe('  kinetic.speed: 1 time no number that can be written (raw NaN)');
  });

  test('a time that cannot be a duration is reported', () => {
    const path = 'energies.Electric.extension.electric.charging.remainingTime';
    expect(told([source(path)], { [path]: 60 }, { [path]: -5 })[1]).toBe(
      `  ${path}: 1 time no number that can be written (raw -5)`,
    );
  });

  test('values hidden by privacy are reported', () => {
    const privacy = source('privacy.state', { map: { 0: 'None', 2: 'Full' } });
    const lines = told([privacy, source('odometer.mileage')], { 'privacy.state': 2 }, { 'odometer.mileage': 7 });
    expect(lines).toEqual([
      'no value for 1 of 2 mapped paths:',
      '  odometer.mileage: every value was refused, see below',
      'refused values:',
      '  odometer.mileage: 1 time hidden by the privacy that was chosen in the car',
    ]);
  });

  const position = [source('lastPosition.latitude'), source('lastPosition.longitude')];
  const at = (latitude: number, longitude: number) => ({
    'lastPosition.latitude': latitude,
    'lastPosition.longitude': longitude,
  });

  test('a position without a fix is reported', () => {
    const fix = source('lastPosition.fixStatus', { map: { 2: '2D' } });
    const lines = told([...position, fix], at(48, 2));
    expect(lines).toContain('  lastPosition: 1 time without a fix');
    expect(lines).toContain('  lastPosition.latitude: every value was refused, see below');
  });

  test('a position at 0, 0 is reported', () => {
    expect(told(position, at(0, 0))).toContain(
      '  lastPosition: 1 time latitude 0, longitude 0, which a receiver without a fix says',
    );
  });

  test('a position farther away than a car can drive is reported', () => {
    expect(told(position, at(48, 2), at(49, 2))).toEqual([
      'refused values:',
      '  lastPosition: 1 time farther from the position before than a car can drive',
    ]);
  });

  test('a position hidden by privacy is counted once per position, not per frame', () => {
    const privacy = source('privacy.state', { map: { 1: 'Geolocation' } });
    const lines = told([...position, privacy], { 'privacy.state': 1 }, at(48, 2), {}, {}, at(48, 2.001));
    expect(lines).toContain('  lastPosition: 2 times hidden by the privacy that was chosen in the car');
  });
});

describe('paths without a value', () => {
  test('paths without a value are not reported if every path has one and nothing was refused', () => {
    expect(told([source('kinetic.speed')], { 'kinetic.speed': 10 })).toEqual([]);
  });

  test('paths without a value whose signals never came are named with their signals', () => {
    const sources = [
      source('odometer.mileage', { signal: 'A' }),
      source('odometer.mileage', { signal: 'B', priority: 1 }),
    ];
    expect(told(sources)).toEqual(['no value for 1 of 1 mapped path:', '  odometer.mileage: M.A or M.B never came']);
  });

  test('paths without a value whose signals were never available are reported as such', () => {
    expect(told([source('environment.air.temp', { invalid: [255] })], { 'environment.air.temp': 255 })).toEqual([
      'no value for 1 of 1 mapped path:',
      '  environment.air.temp: only raw values that `invalid` lists',
    ]);
  });

  test('a channel with a reading has a value, and one without has none', () => {
    const sources = [source('alerts.FuelLevelLow'), source('horn.sounding'), source('acceleration.lateral')];
    expect(told(sources, { 'alerts.FuelLevelLow': 0, 'acceleration.lateral': 1 })).toEqual([
      'no value for 1 of 3 mapped paths:',
      '  horn.sounding: M.horn.sounding never came',
    ]);
  });

  test('up to twenty paths without a value are listed', () => {
    const doors = ['FrontLeft', 'FrontRight', 'RearLeft', 'RearRight'].flatMap((corner) => [
      source(`alerts.${corner}FogLampsFault`),
      source(`alerts.${corner}ParkingLampsFault`),
      source(`alerts.${corner}FlashingIndicatorFault`),
    ]);
    const tyres = ['LeftFront', 'RightFront', 'LeftRear', 'RightRear'].flatMap((corner) => [
      source(`alerts.${corner}TireUnderInflated`),
      source(`alerts.${corner}TirePuncture`),
      source(`alerts.${corner}DoorOpen`),
    ]);
    const lines = told([...doors, ...tyres]);
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)).toBe('  … and 4 more');
  });
});

test('vigie replay prints refused values and missing paths before its summary', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-refusals-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, 'car.dbc'),
    'VERSION ""\n\nBO_ 291 MOTION: 8 X\n SG_ Speed : 0|16@1+ (1,0) [0|0] "" X\n\nBO_ 292 DASH: 8 X\n SG_ Odometer : 0|16@1+ (1,0) [0|0] "" X\n',
  );
  writeFileSync(
    join(folder, 'profile.yaml'),
    'profile: 1\nname: mine\nbuses: [{ name: body, dbc: [car.dbc] }]\nstatus:\n  kinetic.speed: { signal: MOTION.Speed }\n  odometer.mileage: { signal: DASH.Odometer }\n',
  );
  const log = join(folder, 'drive.log');
  writeFileSync(log, '(1700000000.000000) can0 123#1000\n(1700000001.000000) can0 123#FFFF\n');
  const { status, stderr } = await vigie('replay', log, '--profile', folder);
  expect(status, stderr).toBe(0);
  expect(stderr.split('\n').slice(0, 4)).toEqual([
    'no value for 1 of 2 mapped paths:',
    '  odometer.mileage: DASH.Odometer never came',
    'refused values:',
    '  kinetic.speed: 1 time above 655.35 km/h, such as 65535 km/h (raw 65535)',
  ]);
  expect(stderr).toContain('readings refused: 1');
});
