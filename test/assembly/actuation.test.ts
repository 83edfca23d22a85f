/** Route of each command of a profile to the car, as configured. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { Elm327 } from '../../adapters/obd/elm327/index.ts';
import { IsoTp } from '../../adapters/obd/isotp/index.ts';
import { actuationOf } from '../../assembly/actuation.ts';
import { heardOf, sourcesOf } from '../../assembly/sources.ts';
import { inspectVehicle, loadVehicle } from '../../assembly/vehicle.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { smallCar } from '../commands/small-car.ts';
import { MemoryLog } from '../rig/log.ts';

let car: ReturnType<typeof smallCar>;
let keys: string | undefined;

const asked = (bus: string, more = '') =>
  `uds: { bus: ${bus}, request: 0x7A6, ${more}routine: { identifier: 1 } }\n      confirm: { path: doorsState.opening.Driver.state, equals: Closed }`;

beforeAll(() => {
  car = smallCar();
  car.file('trust.json', '{ "keys": [] }');
  car.file('set.json', '{ "commands": [] }');
  car.file(
    'asked.yaml',
    `profile: 1
name: asked
buses:
  - { name: body, dbc: [small.dbc] }
  - { name: plug, obd: { signalsets: [set.json] } }
status:
  kinetic.speed: { signal: MOTION.Speed, bus: body, timeout: 5s }
  doorsState.opening.Driver.state: { signal: BODY.DoorDriver, bus: body, map: { 0: Closed, 1: Open }, timeout: 5s }
commands:
  doors:
    lock:
      ${asked('plug')}
    unlock:
      ${asked('body', 'security: { level: 1, key: acme }, ')}
  lights:
    "on":
      ${asked('body', 'security: { level: 1, key: complement }, ')}
    "off":
      send: { bus: body, message: BODY, signals: { DoorDriver: Shut } }
      confirm: { path: doorsState.opening.Driver.state, equals: Closed }
`,
  );
});
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

beforeEach(() => {
  keys = process.env['VIGIE_SEED_KEYS'];
  delete process.env['VIGIE_SEED_KEYS'];
});
afterEach(() => {
  if (keys === undefined) delete process.env['VIGIE_SEED_KEYS'];
  else process.env['VIGIE_SEED_KEYS'] = keys;
});

function waysOf(inputs: string, commands = 'commands: { trust: trust.json }', profile = 'asked') {
  const file = car.file(
    'vigie.yaml',
    `configuration: 1\nvin: VF3VGEBENCH000001\nprofile: ./${profile}.yaml\nmqtt: { url: 'mqtt://127.0.0.1:1' }\n${commands}\n${inputs}\n`,
  );
  const { configuration, diagnostics } = loadConfiguration(file, {});
  if (configuration === undefined) throw new Error(JSON.stringify(diagnostics));
  const vehicle = loadVehicle(configuration.profile);
  const log = new MemoryLog();
  const clock = new SystemClock();
  const ways = sourcesOf(configuration, vehicle, clock, log);
  const { actuator } = actuationOf(vehicle, ways, clock, log);
  return { ways, configuration, vehicle, actions: [...actuator.actions].sort(), log };
}

const stick = `can:\n  - { bus: body, slcan: 'tcp://127.0.0.1:1' }`;

describe('routes of commands', () => {
  test('polls and commands on the same wires share one transport', () => {
    const { ways, actions } = waysOf(`${stick}\nobd: { isotp: body }`);
    expect(ways.requesters.get('plug')).toBeInstanceOf(IsoTp);
    expect(ways.requesters.get('plug')).toBe(ways.requesters.get('body'));
    // The configuration has no key computation for doors.unlock.
    expect(actions).toEqual(['doors.lock', 'lights.off', 'lights.on']);
  });

  test('an adapter gets commands for its own bus, and a transport gets those for the bus of its frames', () => {
    const { ways, actions } = waysOf(`${stick}\nobd: { elm327: 'tcp://127.0.0.1:1' }`);
    expect(ways.requesters.get('plug')).toBeInstanceOf(Elm327);
    expect(ways.requesters.get('body')).toBeInstanceOf(IsoTp);
    expect(actions).toEqual(['doors.lock', 'lights.off', 'lights.on']);
  });

  test('commands on buses that are not connected are not offered', () => {
    expect(waysOf(stick).actions).toEqual(['lights.off', 'lights.on']);
  });

  test('a log accepts neither frames nor requests', () => {
    const { ways, actions } = waysOf('can:\n  - { bus: body, log: drive.log }');
    expect([...ways.requesters.keys()]).toEqual([]);
    expect(actions).toEqual([]);
  });

  test('without trusted command keys, control units get no command requests', () => {
    const { ways } = waysOf(`${stick}\nobd: { isotp: body }`, '');
    expect([...ways.requesters.keys()]).toEqual([]);
  });
});

describe('receive filters', () => {
  const orders = `commands:
  lights: { "off": { send: { bus: orders, message: BODY, signals: { DoorDriver: Shut } }, confirm: { path: kinetic.moving, equals: true } } }
`;
  const heard = (more: string, commands?: string, captures = '') => {
    car.file(
      'asked-two.yaml',
      `profile: 1
name: two
buses:
  - { name: body, dbc: [small.dbc] }
  - { name: orders, dbc: [small.dbc] }
  - { name: plug, obd: { signalsets: [set.json] } }
status:
  kinetic.speed: { signal: MOTION.Speed, bus: body, timeout: 5s }
  kinetic.moving: { signal: BODY.DoorDriver, bus: body, map: { 0: true, 1: false }, timeout: 5s }
${captures}${orders}`,
    );
    const { configuration, vehicle } = waysOf(
      `${stick}\n  - { bus: orders, slcan: 'tcp://127.0.0.1:2' }\n${more}`,
      commands,
      'asked-two',
    );
    return (['body', 'orders'] as const).map((bus) => heardOf(configuration, vehicle, bus));
  };

  test('a commanded bus without mapped signals is received completely, so that it does not seem to sleep', () => {
    expect(heard('')).toEqual([[256, 512], undefined]);
    expect(heard('', '')).toEqual([[256, 512], []]);
  });

  test('a bus with polled control units, or a recorded bus, is received completely', () => {
    expect(heard('obd: { isotp: body }', '')).toEqual([undefined, []]);
    expect(heard('record: { folder: recorded }', '')).toEqual([undefined, undefined]);
  });

  test('captures add their identifiers to the filter, or receive their bus completely', () => {
    const some = 'captures: { collision: { buses: [body], identifiers: [0x123, 0x18FEF100] } }\n';
    expect(heard('', '', some)).toEqual([[256, 512, 0x123, 0x98fef100], []]);
    expect(heard('', '', 'captures: { monitors: { fast: { buses: [orders] } } }\n')).toEqual([[256, 512], undefined]);
    expect(heard('', '', 'captures: { collision: {} }\n')).toEqual([undefined, undefined]);
  });
});

describe('key programs', () => {
  const profile = () => inspectVehicle(join(car.folder, 'asked.yaml')).diagnostics;

  test('a missing key program is a warning with its line', () => {
    expect(profile().filter(({ message }) => message.includes('acme'))).toMatchObject([
      {
        severity: 'warning',
        line: 14,
        message: expect.stringMatching(/^doors\.unlock: .*known: xor, add, complement/),
      },
    ]);
  });

  test('key programs are loaded from the directory named in the environment', () => {
    process.env['VIGIE_SEED_KEYS'] = car.folder;
    car.file('acme', '#!/bin/sh\necho 00\n');
    const { log } = waysOf(stick);
    expect(log.lines.filter(({ event }) => event === 'seedKey.unusable')).toMatchObject([
      { level: 'warn', fields: { error: expect.stringMatching(/acme: .*make it executable/) } },
    ]);
    rmSync(join(car.folder, 'acme'));
    car.file('acme', '#!/bin/sh\necho 00\n', 0o755);
    expect(profile().filter(({ message }) => message.includes('acme'))).toEqual([]);
    expect(waysOf(stick).actions).toEqual(['doors.unlock', 'lights.off', 'lights.on']);
  });

  test('a key program with the name of a built-in one is not used, and check reports it', () => {
    process.env['VIGIE_SEED_KEYS'] = car.folder;
    const file = car.file('xor', '#!/bin/sh\necho 00\n', 0o755);
    try {
      const said = profile().filter((found) => found.file === file);
      expect(said).toMatchObject([
        { severity: 'warning', message: expect.stringMatching(/^is never started: .*rename it/) },
      ]);
      expect(waysOf(stick).log.lines.some(({ fields }) => String(fields?.['error']).startsWith(file))).toBe(true);
    } finally {
      rmSync(file);
    }
  });
});
