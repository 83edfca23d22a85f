/** Who is asked for fault codes, as configured. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { IsoTp } from '../../adapters/obd/isotp/index.ts';
import { sourcesOf } from '../../assembly/sources.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import { loadConfiguration } from '../../config/configuration.ts';
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

test('fault codes are asked over the transport of the polls, with the signal sets of the bus', () => {
  const faults = asked(`${stick}\nfaults: { every: 10m }`);
  expect(faults?.requester).toBeInstanceOf(IsoTp);
  expect(faults?.sets[0]?.commands.length).toBeGreaterThan(0);
});

test('nobody is asked for fault codes where the configuration does not say so', () => {
  expect(asked(stick)).toBeUndefined();
});
