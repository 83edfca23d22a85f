/** Parsing of profiles, their search path, and files that are not profiles. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Channels } from '../../agent/model/channels.ts';
import { Mapping } from '../../agent/model/mapping.ts';
import { Status } from '../../agent/model/status.ts';
import { loadProfile, type Profile } from '../../config/profile.ts';
import { shippedNames, shippedProfiles } from '../../config/shipped.ts';
import { channelByPath } from '../../protocol/channels.ts';
import type { VehicleProfile } from '../../protocol/profile.ts';
import { recordingDefaults } from '../../protocol/recording.ts';

import { car } from './car.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-profile-'));
  writeFileSync(join(folder, 'car.dbc'), 'VERSION ""\n');
  writeFileSync(join(folder, 'more.dbc'), 'VERSION ""\n');
  mkdirSync(join(folder, 'shipped/nice'), { recursive: true });
  writeFileSync(join(folder, 'shipped/nice/profile.yaml'), car().replace('car.dbc', '../../car.dbc'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function load(text: string, extraDbc: string[] = []) {
  const file = join(folder, 'profile.yaml');
  writeFileSync(file, text);
  return loadProfile(file, { shipped: join(folder, 'shipped'), extraDbc });
}

test('a custom signal is repeated after its heartbeat; the default is a minute or its longer interval', () => {
  const entries = ['{ signal: M.A }', '{ signal: M.A, interval: 2m }', '{ signal: M.A, interval: 2m, heartbeat: 1h }'];
  const signals = entries.map((entry, i) => `  Vehicle.S${i}: ${entry}\n`).join('');
  const { profile, diagnostics } = load(`${car()}signals:\n${signals}`);
  expect(diagnostics).toEqual([]);
  expect(profile?.writtenSignals.map(({ rule }) => rule)).toEqual([
    { interval: 1_000, deadBand: 0, heartbeat: 60_000 },
    { interval: 120_000, deadBand: 0, heartbeat: 120_000 },
    { interval: 120_000, deadBand: 0, heartbeat: 3_600_000 },
  ]);
});

test('a signal with a command prefix belongs to the bus with signal sets, without naming it', () => {
  writeFileSync(join(folder, 'set.json'), '{ "commands": [] }');
  const plug: [string, string] = ['[car.dbc] }', '[car.dbc] }\n  - { name: plug, obd: { signalsets: [set.json] } }'];
  const wiper: [string, string] = ['BODY.Wipers', '22D410.WIPERS'];
  const { profile, diagnostics } = load(
    `${car(plug, wiper)}signals:\n  Vehicle.Part: { signal: 22F187.PART, kind: text }\n`,
  );
  expect(diagnostics).toEqual([]);
  expect(profile?.sources.find(({ message }) => message === '22D410')?.bus).toBe('plug');
  expect(profile?.writtenSignals.map(({ bus }) => bus)).toEqual(['plug']);
});

test('an unknown member in a section of channels is refused, whatever its value', () => {
  for (const value of ['{ interval: 5s }', '[{}]', '7', 'null']) {
    const { profile, diagnostics } = load(`${car()}immobilizer:\n  odd: ${value}\n`);
    expect(profile).toBeUndefined();
    expect(diagnostics).toContainEqual(
      expect.objectContaining({ severity: 'error', message: expect.stringContaining('odd') }),
    );
  }
});

test('a profile becomes plain data with every default filled in', () => {
  const { profile, diagnostics } = load(car(), [join(folder, 'more.dbc')]);
  expect(diagnostics).toEqual([]);
  const dbc = [join(folder, 'car.dbc'), join(folder, 'more.dbc')];
  const plain = { bus: 'body', scale: 1, offset: 0, invalid: [], priority: 0 };
  const mode = 'energies.Electric.extension.electric.charging.chargingMode';
  expect(profile).toEqual({
    file: join(folder, 'profile.yaml'),
    name: 'car',
    title: 'car',
    writtenSignals: [],
    buses: [{ name: 'body', kind: 'can', dbc, line: 4 }],
    sources: [
      { ...plain, path: 'kinetic.speed', message: 'MOTION', signal: 'Speed', timeout: 5000, failover: 2000, line: 9 },
      {
        ...plain,
        path: 'kinetic.speed',
        message: 'ABS',
        signal: 'Speed',
        scale: 0.1,
        offset: -1,
        timeout: 60000,
        priority: 1,
        failover: 10000,
        line: 10,
      },
      { ...plain, path: 'environment.air.temp', message: 'CLIMATE', signal: 'Temp', invalid: [255, 254], line: 11 },
      {
        ...plain,
        path: 'doorsState.lockedStates',
        message: 'BODY',
        signal: 'Lock',
        map: { 0: ['Unlocked'], 1: ['Locked'] },
        line: 12,
      },
      { ...plain, path: mode, message: 'CHARGE', signal: 'Mode', map: { 0: 'No', 1: 'Slow' }, line: 13 },
      { ...plain, path: 'wipingBlades.active', message: 'BODY', signal: 'Wipers', line: 14 },
    ],
    constants: { 'energies.Electric.subType': 'ElectricEnergy' },
    telemetry: {
      default: { interval: 2000, deadBand: 0, heartbeat: 60000 },
      'kinetic.speed': { interval: 2000, deadBand: 0.5, heartbeat: 60000 },
    },
    alerts: { default: recordingDefaults.alert },
    trips: recordingDefaults.trip,
    collisions: recordingDefaults.collision,
    thefts: recordingDefaults.theft,
    waypoints: { interval: 60_000, distance: 1000, heading: 90, error: 10 },
    commands: {
      'doors.lock': {
        send: {
          bus: 'body',
          message: 'CMD',
          signals: { Lock: 1 },
          every: 50,
          for: 500,
          counter: 'N',
          checksum: { signal: 'C', method: 'sum' },
          line: 21,
        },
        confirm: { path: 'doorsState.lockedStates', includes: 'Locked' },
        within: 5000,
        line: 20,
      },
    },
  } satisfies Profile);
});

test('inputs of recorders other than Status become sources of channels, with their rules', () => {
  const { profile, diagnostics } = load(
    `${car()}alerts:
  FuelLevelLow: { signal: DASH.Fuel, severity: Warning, onAfter: 1s }
  EngineFault: { signal: DASH.Engine, map: { 1: true, 0: false } }
maintenance: { days: { signal: DASH.Days, timeout: 1d } }
collision: { side: { signal: ACU.Side, map: { 1: Front, 2: Rear } } }
acceleration: { longitudinal: [{ signal: ACU.X }, { signal: ESP.X }] }
key: { present: { signal: BODY.Key } }
trips: { grace: 2m }
impact: { threshold: 40, after: 2s }
theft: { distance: 50 }
`,
  );
  expect(diagnostics).toEqual([]);
  const channels = profile?.sources.filter(({ path }) => channelByPath.has(path));
  expect(channels?.map(({ path, priority, line }) => [path, priority, line])).toEqual([
    ['alerts.FuelLevelLow', 0, 25],
    ['alerts.EngineFault', 0, 26],
    ['maintenance.days', 0, 27],
    ['collision.side', 0, 28],
    ['key.present', 0, 30],
    ['acceleration.longitudinal', 0, 29],
    ['acceleration.longitudinal', 1, 29],
  ]);
  expect(profile?.alerts).toEqual({
    default: recordingDefaults.alert,
    FuelLevelLow: { severity: 'Warning', onAfter: 1000, offAfter: 10_000 },
    EngineFault: { onAfter: 3000, offAfter: 10_000 },
  });
  expect(profile?.trips).toEqual({ ...recordingDefaults.trip, grace: 120_000 });
  expect(profile?.collisions).toEqual({ ...recordingDefaults.collision, threshold: 40, after: 2000 });
  expect(profile?.thefts).toEqual({ ...recordingDefaults.theft, distance: 50 });
});

test('texts of fault codes are used unchanged, and an invalid code is a fault at its line', () => {
  const { profile, diagnostics } = load(`${car()}faultCodes: { P0143: 'Sensor: voltage too low', U0100: Silent }\n`);
  expect(diagnostics).toEqual([]);
  expect(profile?.faultCodes).toEqual({ P0143: 'Sensor: voltage too low', U0100: 'Silent' });
  expect(load(car()).profile).not.toHaveProperty('faultCodes');
  const wrong = load(`${car()}faultCodes: { P01433: Sensor }\n`);
  expect(wrong.profile).toBeUndefined();
  expect(wrong.diagnostics.map(({ line }) => line)).toEqual([24]);
});

test('a text can belong to one failure type of a code', () => {
  const { profile, diagnostics } = load(`${car()}faultCodes: { P0143-1C: 'Voltage out of range' }\n`);
  expect(diagnostics).toEqual([]);
  expect(profile?.faultCodes).toEqual({ 'P0143-1C': 'Voltage out of range' });
});

test('control units have addresses and a status mask; the default mask is failed, pending or confirmed', () => {
  const { profile, diagnostics } = load(
    `${car()}controlUnits:\n  - { name: Battery, request: 0x7A6, response: 0x7B6, statusMask: 0xFF }\n  - { request: 0x18DA40F1 }\n`,
  );
  expect(diagnostics).toEqual([]);
  expect(profile?.controlUnits).toEqual([
    { name: 'Battery', bus: 'body', address: { request: 0x7a6, response: 0x7b6, extended: false }, statusMask: 0xff },
    { bus: 'body', address: { request: 0x18da40f1, extended: true }, statusMask: 0x0d },
  ]);
  expect(load(car()).profile).not.toHaveProperty('controlUnits');
});

test('a duplicate control unit, a functional address and an impossible status mask are faults at their lines', () => {
  const { profile, diagnostics } = load(
    `${car()}controlUnits:\n  - { request: 0x7A6 }\n  - { request: 0x7A6, name: Again }\n  - { request: 0x7DF }\n` +
      '  - { request: 0x7E0, statusMask: 0 }\n  - { request: 0x7E1, response: 0x18DAF140 }\n',
  );
  expect(profile).toBeUndefined();
  expect(diagnostics.map(({ line, message }) => [line, message])).toEqual([
    [26, 'this control unit is listed already'],
    [27, 'this is the address of all control units'],
    [28, 'statusMask must be a whole number such as 0x7E0, at least 1, not 0'],
    [29, 'request and response do not both have 11 bits'],
  ]);
});

test('an unknown alert and an invalid side are faults at their lines', () => {
  const { profile, diagnostics } = load(
    `${car()}alerts: { FuelLevelLw: { signal: DASH.Fuel } }\ncollision: { side: { signal: ACU.Side, map: { 1: Fron } } }\n`,
  );
  expect(profile).toBeUndefined();
  expect(diagnostics.map(({ line, fix }) => [line, fix])).toEqual([
    [24, 'did you mean FuelLevelLow?'],
    [25, 'did you mean Front?'],
  ]);
});

test('an alert without a value is reported, and the rest of the profile is read', () => {
  const { profile, diagnostics } = load(`${car()}alerts:\n  FuelLevelLow:\n`);
  expect(profile).toBeUndefined();
  expect(diagnostics).toMatchObject([
    { severity: 'error', message: expect.stringContaining('FuelLevelLow must be members') },
  ]);
});

test('the agent accepts the loaded profile unchanged', () => {
  const vehicle: VehicleProfile = load(car()).profile as Profile;
  const wanted = new Mapping(new Status(), new Channels(), vehicle).wanted.map(
    ({ message, signal }) => `${message}.${signal}`,
  );
  expect(wanted).toEqual(['MOTION.Speed', 'ABS.Speed', 'CLIMATE.Temp', 'BODY.Lock', 'CHARGE.Mode', 'BODY.Wipers']);
});

describe('an unreadable profile', () => {
  const options = { shipped: '' };
  test.each([
    ['a missing file', 'missing.yaml', /it does not exist/],
    ['a folder without a profile', '.', /it does not exist/],
  ])('%s', (_, path, message) => {
    mkdirSync(join(folder, 'empty'), { recursive: true });
    const { profile, diagnostics } = loadProfile(join(folder, 'empty', path), options);
    expect(profile).toBeUndefined();
    expect(diagnostics).toMatchObject([{ line: 0, severity: 'error', message: expect.stringMatching(message) }]);
  });

  test.each([
    ['bytes that are not text', new Uint8Array([0x61, 0x3a, 0x20, 0xff]), /is not UTF-8/],
    ['nothing', new Uint8Array(), /./],
    ['brackets without end', new TextEncoder().encode('['.repeat(100_000)), /nested deeper than 64/],
    ['lists without end', new TextEncoder().encode('- '.repeat(100_000)), /nested deeper than 64/],
    ['a file of two megabytes', new Uint8Array(2 << 20).fill(0x20), /2097152 bytes/],
    ['aliases that multiply', new TextEncoder().encode(multiplying()), /too large/],
    ['an alias within itself', new TextEncoder().encode('profile: &a [*a]'), /contains itself/],
  ])('%s', (_, bytes, message) => {
    const file = join(folder, 'odd.yaml');
    writeFileSync(file, bytes);
    const { profile, diagnostics } = loadProfile(file, options);
    expect(profile).toBeUndefined();
    expect(diagnostics).toMatchObject([{ file, severity: 'error', message: expect.stringMatching(message) }]);
  });

  function multiplying(): string {
    const rows = ['a0: &a0 [1, 2]'];
    for (let n = 1; n < 40; n++) rows.push(`a${n}: &a${n} [*a${n - 1}, *a${n - 1}]`);
    return rows.join('\n');
  }
});

describe('names and paths', () => {
  test('a shipped profile is found by name, by folder and by file', () => {
    const shipped = join(folder, 'shipped');
    for (const name of ['nice', join(shipped, 'nice'), join(shipped, 'nice', 'profile.yaml')]) {
      const { profile, diagnostics } = loadProfile(name, { shipped });
      expect(diagnostics).toEqual([]);
      expect(profile?.file).toBe(join(shipped, 'nice', 'profile.yaml'));
      expect(profile?.buses[0]?.dbc).toEqual([join(folder, 'car.dbc')]);
    }
  });

  test('an unknown name causes a list of the known names', () => {
    const shipped = join(folder, 'shipped');
    expect(loadProfile('nise', { shipped }).diagnostics[0]?.fix).toBe('did you mean nice?');
    expect(loadProfile('elephant', { shipped }).diagnostics[0]?.fix).toContain('known: nice');
  });

  test('a missing DBC from the command line is an error', () => {
    const { profile, diagnostics } = load(car(), [join(folder, 'none.dbc')]);
    expect(profile).toBeUndefined();
    expect(diagnostics).toMatchObject([{ file: join(folder, 'none.dbc'), line: 0, severity: 'error' }]);
  });

  test.each(shippedNames(shippedProfiles))('the shipped profile %s has no findings', (name) => {
    const { profile, diagnostics } = loadProfile(name, { shipped: shippedProfiles });
    expect(diagnostics).toEqual([]);
    expect(profile?.name).toBe(name);
    for (const { dbc } of profile?.buses ?? [])
      for (const file of dbc) expect(readFileSync(file).length).toBeGreaterThan(0);
  });
});
