/** Custom signals of a car on plain topics: from a profile and a log of frames to a real broker. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import { expect, onTestFinished, test } from 'vitest';
import { LogSource } from '../../adapters/can/log/index.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import { startCar } from '../../assembly/car.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import type { ExitsConfiguration } from '../../config/exits.ts';
import { AedesRig } from '../rig/aedes.ts';
import { MemoryLog } from '../rig/log.ts';

const VIN = 'VF30A00000B000042';

test('custom signals arrive on topics of their own, positions only with their scope', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-exit-topics-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  file(
    'car.dbc',
    `VERSION ""
BU_: ECU
BO_ 256 BATTERY: 8 ECU
 SG_ CellMax : 0|16@1+ (0.001,0) [0|0] "V" ECU
 SG_ Mode : 16|2@1+ (1,0) [0|0] "" ECU
VAL_ 256 Mode 0 "Eco" 1 "Sport" ;
`,
  );
  const profile = file(
    'profile.yaml',
    `profile: 1
name: cells
buses:
  - { name: can, dbc: [car.dbc] }
status: {}
signals:
  Vehicle.Cell: { signal: BATTERY.CellMax }
  Vehicle.Mode: { signal: BATTERY.Mode }
  Vehicle.Hidden: { signal: BATTERY.CellMax, position: true }
`,
  );
  const frames = file('drive.log', '(1700000000.000000) can0 100#2010010000000000\n');
  const broker = new AedesRig();
  await broker.start();
  const client = await connectAsync(broker.url);
  const topics = new Map<string, string>();
  const hasMode = new Promise<void>((resolve) => {
    client.on('message', (topic, payload) => {
      topics.set(topic, payload.toString());
      if (payload.toString() === 'Sport') resolve();
    });
  });
  await client.subscribeAsync('plain/#');
  const [clock, log] = [new SystemClock(), new MemoryLog()];
  const configuration: ExitsConfiguration = {
    ...{ prefix: 'plain', form: 'value', retain: true, interval: 0, scopes: new Set(['data:telemetry']) },
  };
  const car = await startCar({
    ...{ vin: VIN, vehicle: loadVehicle(profile), clock, log },
    sources: [new LogSource(frames, { clock, speed: Number.POSITIVE_INFINITY })],
    exits: { configuration, broker: { url: broker.url } },
  });
  await hasMode;
  expect(topics.get(`plain/${VIN}/signals/Vehicle.Mode`)).toBe('Sport');
  expect(topics.get(`plain/${VIN}/signals/Vehicle.Cell`)).toBe('4.128');
  expect([...topics.keys()].filter((topic) => topic.includes('Hidden'))).toEqual([]);
  await car.stop();
  await client.endAsync();
  await broker.stop();
});
