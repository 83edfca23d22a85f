/** Fault codes as configured: which control units are read, and the records that result. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { bytesOf, hexOf } from '../../adapters/obd/hex.ts';
import { IsoTp } from '../../adapters/obd/isotp/index.ts';
import type { DiagnosticRequester } from '../../adapters/obd/requester.ts';
import { startCar } from '../../assembly/car.ts';
import type { CloudLink } from '../../assembly/cloud-link.ts';
import { faultCodesOf, readFaultsCommand } from '../../assembly/faults.ts';
import { heardOf, sourcesOf } from '../../assembly/sources.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { encodeBody } from '../../protocol/command.ts';
import type { FaultRecord } from '../../protocol/schema/fault.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { fetchJson } from '../adapters/http/rig.ts';
import { smallCar } from '../commands/small-car.ts';
import { MemoryLog } from '../rig/log.ts';

let car: ReturnType<typeof smallCar>;
beforeAll(() => {
  car = smallCar();
});
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

function asked(inputs: string) {
  const file = car.file(
    'vigie.yaml',
    `configuration: 1\nvin: VF3VGEBENCH000001\nprofile: generic-obd2\nmqtt: { url: 'mqtt://127.0.0.1:1' }\n${inputs}\n`,
  );
  const { configuration, diagnostics } = loadConfiguration(file, {});
  if (configuration === undefined) throw new Error(JSON.stringify(diagnostics));
  return sourcesOf(configuration, loadVehicle(configuration.profile), new SystemClock(), new MemoryLog()).faults;
}

const stick = `can:\n  - { bus: body, slcan: 'tcp://127.0.0.1:1' }\nobd: { isotp: body }`;

test('fault codes are read over the transport of the polls, with the signal sets of the bus', () => {
  const faults = asked(`${stick}\nfaults: { every: 10m }`);
  expect(faults?.requester).toBeInstanceOf(IsoTp);
  expect(faults?.sets[0]?.commands.length).toBeGreaterThan(0);
});

/** A profile with one frame bus and a control unit. */
function askedUnits(inputs: string, status = '{}') {
  car.file(
    'units.profile.yaml',
    'profile: 1\nname: units\nbuses:\n  - { name: body, dbc: [small.dbc] }\nconstants: { energies.Electric.subType: ElectricEnergy }\n' +
      `status: ${status}\ncontrolUnits:\n  - { name: Battery, request: 0x7A6, response: 0x7AE }\n`,
  );
  const file = car.file(
    'units.yaml',
    `configuration: 1\nvin: VF3VGEBENCH000001\nprofile: ./units.profile.yaml\nmqtt: { url: 'mqtt://127.0.0.1:1' }\n` +
      `can:\n  - { bus: body, slcan: 'tcp://127.0.0.1:1' }\n${inputs}\n`,
  );
  const { configuration, diagnostics } = loadConfiguration(file, {});
  if (configuration === undefined) throw new Error(JSON.stringify(diagnostics));
  const vehicle = loadVehicle(configuration.profile);
  const { faults } = sourcesOf(configuration, vehicle, new SystemClock(), new MemoryLog());
  return { faults, heard: heardOf(configuration, vehicle, 'body') };
}

test('control units of the profile are read over the frame bus without obd', () => {
  const { faults, heard } = askedUnits('faults: {}');
  expect(faults).not.toHaveProperty('requester');
  expect(faults?.uds?.units).toEqual([
    {
      name: 'Battery',
      bus: 'body',
      address: { request: 0x7a6, response: 0x7ae, extended: false },
      statusMask: 0x0d,
      requester: expect.any(IsoTp),
    },
  ]);
  // No other frame is needed by the profile, so every frame shows that the bus is awake.
  expect(heard).toBeUndefined();
  const speed = '{ kinetic.speed: { signal: MOTION.Speed, timeout: 5s } }';
  expect(askedUnits('faults: {}', speed).heard).toEqual([0x100, 0x7ae]);
  const none = askedUnits('');
  expect(none).toEqual({ faults: undefined, heard: [] });
});

test('no fault codes are read unless configured', () => {
  expect(asked(stick)).toBeUndefined();
});

test('the fault codes of a car are published and served', async () => {
  const answers: Readonly<Record<string, string>> = {
    '0101': '410183000000',
    '03': '4303014303010420',
    '07': '4701C100',
    '0A': '4A00',
  };
  const requester: DiagnosticRequester = {
    request: async ({ payload }) => {
      const answer = bytesOf(answers[hexOf(payload)] ?? '');
      return answer === undefined || answer.length === 0 ? [] : [{ id: 0x7e8, payload: answer }];
    },
  };
  const clock = new SystemClock();
  const log = new MemoryLog();
  const vehicle = loadVehicle('generic-obd2');
  const codes = await faultCodesOf(
    { requester, sets: [], onUnitsFound: () => undefined },
    { every: 3_600_000 },
    { ...vehicle.profile, faultCodes: { U0100: 'Silent' } },
    log,
  );
  const told: FaultRecord[] = [];
  let all: () => void = () => undefined;
  const published = new Promise<void>((resolve) => {
    all = resolve;
  });
  const link: CloudLink = {
    connected: true,
    publish: async ({ payload }) => {
      const message = decodeMessage(payload);
      if (message.kind === 'fault' && told.push(message.body) === 4) all();
    },
    open: (events) => events.up(),
    close: async () => undefined,
  };
  const running = await startCar({
    vin: 'VF3VGEBENCH000001',
    vehicle,
    clock,
    log,
    link,
    settings: agentSettings(),
    data: join(car.folder, 'data'),
    http: { local: true, port: 0 },
    faults: codes,
  });
  onTestFinished(() => running.stop());
  await published;
  const expected = [
    ['P0143', 'Powertrain', undefined, ['Stored']],
    ['P0301', 'Powertrain', undefined, ['Stored']],
    ['P0420', 'Powertrain', undefined, ['Stored']],
    ['U0100', 'Network', 'Silent', ['Pending']],
  ];
  const shown = (faults: readonly FaultRecord[]) =>
    faults.map(({ code, group, text, status }) => [code, group, text, status]).sort();
  expect(shown(told)).toEqual(expected);
  const { json } = await fetchJson(`${running.interface?.url}/vigie/v1/faults`, {});
  expect(shown((json as { faults: FaultRecord[] }).faults)).toEqual(expected);
});

test('a command to read fault codes ends when the records are on disk, or with the reason of the failure', async () => {
  const steps: string[] = [];
  const commit = async (): Promise<void> => void steps.push('committed');
  const body = encodeBody('ReadFaults', {});
  await readFaultsCommand({ readNow: async () => void steps.push('read') }, commit)(body, 0);
  expect(steps).toEqual(['read', 'committed']);
  const failing = readFaultsCommand({ readNow: () => Promise.reject(new Error('silence')) }, commit);
  await expect(failing(body, 0)).rejects.toThrow('silence');
  await expect(failing(Uint8Array.of(0x80), 0)).rejects.toMatchObject({ code: 'command.malformed' });
  expect(steps).toEqual(['read', 'committed']);
});
