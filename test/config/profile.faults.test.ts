/** Tests each rule of a profile: message, line and advice. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadProfile } from '../../config/profile.ts';
import { car } from './car.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-profile-'));
  writeFileSync(join(folder, 'car.dbc'), 'VERSION ""\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function load(text: string) {
  const file = join(folder, 'profile.yaml');
  writeFileSync(file, text);
  return loadProfile(file, { shipped: folder });
}

const speed = '    - { signal: MOTION.Speed, timeout: 5s, failover: 2s }';
const climate = '{ signal: CLIMATE.Temp, invalid: [255, 0xFE] }';
const checksum = '{ signal: C, method: sum }';

describe('one fault causes one finding', () => {
  const cases: [what: string, text: () => string, line: number, message: RegExp, fix?: RegExp][] = [
    ['another version', () => car(['profile: 1', 'profile: 2']), 1, /format 2 is not one/, /profile: 1/],
    ['version as text', () => car(['profile: 1', 'profile: "1"']), 1, /must be 1, not "1"/, /quotes/],
    ['tab', () => car(['    - { signal: MOTION', '\t    - { signal: MOTION']), 9, /tab/, /spaces/],
    ['two documents', () => `${car()}---\na: 1\n`, 24, /second document/],
    [
      'unknown section',
      () => car(['telemetry:', 'telemetri:']),
      15,
      /unknown member "telemetri"/,
      /did you mean telemetry\?/,
    ],
    ['no bus', () => car(['  - { name: body, dbc: [car.dbc] }', '  []']), 3, /buses must not be an empty list/],
    [
      'bus twice',
      () => car(['[car.dbc] }', '[car.dbc] }\n  - { name: body, dbc: [car.dbc] }']),
      5,
      /there are two buses "body"/,
    ],
    [
      'missing DBC',
      () => car(['[car.dbc]', '[car.dbc, cra.dbc]']),
      4,
      /cra\.dbc cannot be read: it does not exist/,
      /relative to the profile/,
    ],
    ['bus without DBC', () => car([', dbc: [car.dbc]', '']), 4, /nothing describes the frames of bus "body"/, /dbc:/],
    ['unknown bus', () => car([climate, '{ signal: A.B, bus: bodi }']), 11, /no bus "bodi"/, /did you mean body\?/],
    [
      'unknown path',
      () => car(['environment.air.temp', 'enviroment.air.temp']),
      11,
      /no path "enviroment\.air\.temp"/,
      /environment\.air\.temp/,
    ],
    [
      'incomplete path',
      () => car(['environment.air.temp', 'temp']),
      11,
      /no path "temp"/,
      /environment\.air\.temp|coolant/,
    ],
    ['signal without message', () => car(['CLIMATE.Temp', 'Temp']), 11, /signal must be a message and a signal/],
    ['structure', () => car(['environment.air.temp', 'alarm.trigger.position']), 11, /is a structure/],
    ['scale of 0', () => car([climate, '{ signal: A.B, scale: 0 }']), 11, /scale of 0/],
    [
      'scale together with map',
      () => car(['map: { 0: No, 1: Slow }', 'map: { 0: No }, scale: 2']),
      13,
      /scale has no effect with map/,
    ],
    ['scaled flag', () => car(['BODY.Wipers', 'BODY.Wipers, offset: 1']), 14, /wipingBlades\.active is not a number/],
    [
      'enumeration without map',
      () => car([', map: { 0: No, 1: Slow }', '']),
      13,
      /takes names and the signal gives a number/,
      /map: \{ 0: No/,
    ],
    ['set without map', () => car([', map: { 0: [Unlocked], 0x1: [Locked] }', '']), 12, /takes names/, /\[Unlocked\]/],
    ['unknown name', () => car(['1: Slow', '1: Slwo']), 13, /never "Slwo"/, /did you mean Slow\?/],
    [
      'one name for a set',
      () => car(['0: [Unlocked]', '0: Unlocked']),
      12,
      /must be a list of Unlocked/,
      /\[Unlocked\]/,
    ],
    ['name twice in a set', () => car(['[Unlocked]', '[Unlocked, Unlocked]']), 12, /in the list twice/],
    ['raw value in two notations', () => car(['0x1: [Locked]', '1: [Locked], 0x1: [Locked]']), 12, /mapped twice/],
    [
      'an invalid raw value',
      () => car(['0x1: [Locked]', '0x1: [Locked], one: [Locked]']),
      12,
      /"one" must be a raw value/,
    ],
    ['an empty map', () => car(['{ 0: No, 1: Slow }', '{}']), 13, /an empty map gives no value/],
    [
      'an invalid duration',
      () => car(['charging.chargingMode: {', 'charging.remainingTime: {'], ['0: No, 1: Slow', '0: PT0S, 1: soon']),
      13,
      /remainingTime must be an ISO 8601 duration, not "soon"/,
      /PT14H30M/,
    ],
    [
      'a text that is too long',
      () => car(['energies.Electric.subType: ElectricEnergy', `stolen.id: ${'x'.repeat(65)}`]),
      6,
      /stolen\.id must be a text of at most 64 characters/,
    ],
    [
      'a time beyond the range of dates',
      () => car(['energies.Electric.subType: ElectricEnergy', 'stolen.startedAt: 8640000000000001']),
      6,
      /must be a whole number of milliseconds since 1970/,
    ],
    [
      'text without map',
      () => car(['wipingBlades.active', 'stolen.id']),
      14,
      /is a text and the signal gives a number/,
    ],
    [
      'sixteen data IDs of profile 1',
      () => car(['method: sum', `method: autosar-p1, dataId: [${'1, '.repeat(15)}1]`]),
      21,
      /one data ID of 16 bits/,
    ],
    ['mapped and invalid', () => car(['1: Slow }', '1: Slow }, invalid: [0x1]']), 13, /1 is invalid and in the map/],
    [
      'mapped beyond the range',
      () => car([climate, '{ signal: A.B, map: { 0: 20, 1: 400 } }']),
      11,
      /never above 100 degC, and 400 is/,
    ],
    ['source twice', () => car(['ABS.Speed', 'MOTION.Speed']), 10, /source of this path already/],
    ['a duration of 0', () => car(['timeout: 5s', 'timeout: 0s']), 9, /more than 0, not "0s"/],
    ['negative time', () => car(['timeout: 5s', 'timeout: -5']), 9, /at least 1, not -5/],
    [
      'constant with a source',
      () => car(['energies.Electric.subType: ElectricEnergy', 'environment.air.temp: 20']),
      6,
      /has sources under status/,
    ],
    [
      'constant out of range',
      () => car(['energies.Electric.subType: ElectricEnergy', 'odometer.mileage: -3']),
      6,
      /never below 0 km, and -3 is/,
    ],
    ['number for a name', () => car(['ElectricEnergy', '7']), 6, /must be one of FossilEnergy/],
    ['name of the wrong list', () => car(['ElectricEnergy', 'Electric']), 6, /never "Electric"/],
    [
      'dead-band of names',
      () => car(['  kinetic.speed: { deadBand', '  wipingBlades.active: { deadBand']),
      17,
      /has no dead-band/,
    ],
    [
      'dead-band beyond the range',
      () => car(['deadBand: 0.5', 'deadBand: 1000']),
      17,
      /can never change by this dead-band/,
    ],
    [
      'heartbeat below interval',
      () => car(['heartbeat: 1m', 'heartbeat: 1s']),
      17,
      /repeated after 1s and allowed only every 2s/,
    ],
    [
      'telemetry of an unknown path',
      () => car(['  kinetic.speed: { deadBand', '  kinetic.sped: { deadBand']),
      17,
      /no path "kinetic\.sped"/,
      /kinetic\.speed/,
    ],
    [
      'turn beyond half a circle',
      () => car(['commands:', 'waypoints: { heading: 200 }\ncommands:']),
      18,
      /at most 180, not 200/,
    ],
    ['every without for', () => car([', for: 500ms', '']), 21, /`every` without `for`/],
    ['for without every', () => car(['every: 50ms, ', '']), 21, /`for` without `every`/],
    ['repetition of one', () => car(['for: 500ms', 'for: 20ms']), 21, /ends before the second frame/],
    ['sent longer than confirmed', () => car(['for: 500ms', 'for: 6s']), 21, /time to confirm is over/],
    ['counter set by hand', () => car(['Lock: 1 }', 'Lock: 1, N: 3 }']), 21, /"N" is the counter/],
    ['checksum set by hand', () => car(['Lock: 1 }', 'Lock: 1, C: 3 }']), 21, /"C" is the checksum/],
    ['counter as checksum', () => car([checksum, '{ signal: N, method: sum }']), 21, /the same signal/],
    ['unknown checksum', () => car(['method: sum', 'method: crc8']), 21, /must be one of sum, xor/],
    [
      'a data ID for a method without one',
      () => car(['method: sum', 'method: sum, dataId: 1']),
      21,
      /sum has no data ID/,
    ],
    ['AUTOSAR without data ID', () => car(['method: sum', 'method: autosar-p1']), 21, /needs the data ID/],
    [
      'AUTOSAR without counter',
      () => car(['counter: N, ', ''], ['method: sum', 'method: autosar-p1, dataId: 1']),
      21,
      /needs a counter/,
    ],
    ['data ID too wide', () => car(['method: sum', 'method: autosar-p2, dataId: 300']), 21, /8 bits/],
    [
      'fifteen data IDs',
      () => car(['method: sum', `method: autosar-p2, dataId: [${'1, '.repeat(14)}1]`]),
      21,
      /a list of 16/,
    ],
    ['a confirmation without a condition', () => car([', includes: Locked', '']), 22, /exactly one of/],
    ['equals for a set', () => car(['includes: Locked', 'equals: Locked']), 22, /is a set of names/, /includes/],
    [
      'includes for a path that is not a set',
      () => car(['path: doorsState.lockedStates', 'path: kinetic.speed']),
      22,
      /is not a set of names/,
      /equals/,
    ],
    [
      'confirmed by an unknown name',
      () => car(['includes: Locked', 'includes: Lokced']),
      22,
      /never "Lokced"/,
      /Locked/,
    ],
    [
      'a confirmation by a path without a source',
      () => car(['{ path: doorsState.lockedStates, includes: Locked }', '{ path: ignition.type, equals: Stop }']),
      22,
      /gives ignition\.type a value: the command could never/,
    ],
    [
      'a confirmation by a value that no map yields',
      () => car(['includes: Locked', 'includes: SuperLocked']),
      22,
      /no map under status ever gives/,
    ],
    [
      'confirmation without a map entry',
      () => car(['0x1: [Locked]', '0x1: [SuperLocked]']),
      22,
      /no map under status ever gives/,
    ],
    ['key that is a list', () => car(['  default:', '  [a]:']), 16, /where a name must/],
    ['alias to nothing', () => car([climate, '*air']), 11, /nothing above is named &air/],
  ];
  test.each(cases)('%s', (_, text, line, message, fix) => {
    const { profile, diagnostics } = load(text());
    expect(profile).toBeUndefined();
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({
      file: join(folder, 'profile.yaml'),
      line,
      message: expect.stringMatching(message),
    });
    if (fix !== undefined) expect(errors[0]?.fix).toMatch(fix);
  });
});

describe('a questionable but valid profile', () => {
  const cases: [string, () => string, number, RegExp][] = [
    ['a speed that is never stale', () => car([', timeout: 1m', '']), 10, /commands depend on kinetic\.speed/],
    ['failover without another source', () => car([climate, '{ signal: A.B, failover: 1s }']), 11, /no other source/],
    ['stale before the next source', () => car(['failover: 2s', 'failover: 7s']), 9, /stale 2s before/],
    [
      'telemetry of a path without a source',
      () => car(['  kinetic.speed: { deadBand', '  odometer.mileage: { deadBand']),
      17,
      /this profile has no source/,
    ],
    ['a profile without any mapped path', () => `${car().split('constants:')[0]}status: {}\n`, 5, /no path is mapped/],
    ['dead-band for all units', () => car(['interval: 2s', 'deadBand: 1']), 16, /all units/],
  ];
  test.each(cases)('%s is a warning', (_, text, line, message) => {
    const { profile, diagnostics } = load(text());
    expect(profile).toBeDefined();
    expect(diagnostics).toMatchObject([{ severity: 'warning', line, message: expect.stringMatching(message) }]);
  });

  test('a default dead-band does not apply to paths that are not numeric', () => {
    const { profile } = load(car(['interval: 2s', 'deadBand: 1']));
    expect(profile?.telemetry).toMatchObject({
      default: { deadBand: 1 },
      'wipingBlades.active': { deadBand: 0 },
      'doorsState.lockedStates': { deadBand: 0 },
    });
  });

  test('a source fails over no later than its value becomes stale', () => {
    const { profile, diagnostics } = load(car([', failover: 2s', '']));
    expect(diagnostics).toEqual([]);
    expect(profile?.sources[0]).toMatchObject({ timeout: 5000, failover: 5000 });
  });

  test('an alias has the value of its anchor', () => {
    const { profile } = load(
      car(
        [speed, speed.replace('- {', '- &speed {')],
        ['{ signal: BODY.Wipers }', '{ signal: BODY.Wipers, timeout: 5s }'],
      ),
    );
    expect(profile).toBeDefined();
    const aliased = load(
      car(
        ['default: { interval: 2s }', 'default: &rule { interval: 2s }'],
        ['{ deadBand: 0.5, heartbeat: 1m }', '*rule'],
      ),
    );
    expect(aliased.profile?.telemetry['kinetic.speed']).toEqual({ interval: 2000, deadBand: 0, heartbeat: 60000 });
  });
});

test('with several buses, each source must name its bus', () => {
  const two: [string, string] = ['[car.dbc] }', '[car.dbc] }\n  - { name: drive, dbc: [car.dbc] }'];
  const { diagnostics } = load(car(two));
  const which = diagnostics.filter(({ message }) => message === 'the bus is missing');
  expect(which.map(({ line }) => line)).toEqual([10, 11, 12, 13, 14, 15, 22]);
  expect(which[0]?.fix).toBe('add bus: body or bus: drive');
});

test('an unclosed bracket is reported where it was opened, without consequential errors', () => {
  const { profile, diagnostics } = load(car(['[car.dbc]', '[car.dbc']));
  expect(profile).toBeUndefined();
  expect(new Set(diagnostics.map(({ line }) => line))).toEqual(new Set([4]));
});

test('several faults are reported together, in the order of the file', () => {
  const { diagnostics } = load(
    car(
      ['profile: 1', 'profile: 1\nprofile: 1'],
      ['CLIMATE.Temp', 'Temp'],
      ['1: Slow', '1: Slwo'],
      ['deadBand: 0.5', 'deadBand: x'],
      ['method: sum', 'method: crc'],
    ),
  );
  expect(diagnostics.map(({ line }) => line)).toEqual([2, 12, 14, 18, 22]);
});
