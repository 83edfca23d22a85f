/** Members of telemetry that depend on the line. */

import { expect, test } from 'vitest';
import { MemoryRecords } from '../../../../adapters/store/index.ts';
import { Status } from '../../../../agent/model/status.ts';
import { telemetryFromReadings } from '../../../../protocol/schema/telemetry.ts';
import { type Slot, slotByPath } from '../../../../protocol/slots.ts';
import { Asker, carOf, entriesOf, type Json, NOW } from './rig.ts';

const at = NOW - 1_000;
const stamp = new Date(at).toISOString();
const readings = Object.entries({
  'ignition.type': 'Start',
  'wipingBlades.active': true,
  'wipingBlades.speed': 'High',
  'kinetic.speed': 50,
  'adas.aebs': 'Off',
}).map(([path, value]) => ({ slot: slotByPath.get(path) as Slot, value, at }));

function fail(): never {
  throw new Error('nobody asks for this');
}

async function vehicleOf(address: string): Promise<Readonly<Record<string, unknown>>> {
  const records = new MemoryRecords();
  records.put('telemetry', { id: 'r1', at, record: telemetryFromReadings(readings) });
  const monitors = { all: [], get: () => undefined, put: fail, setStatus: fail, remove: fail };
  const asker = new Asker(carOf({ status: new Status(), records, monitors }));
  const [entry] = entriesOf((await asker.get(address)).body, 'telemetries');
  return (entry as Json).vehicle as unknown as Record<string, unknown>;
}

test('fleet line: only ignition and wipers have a time, like their published models', async () => {
  expect(await vehicleOf('/fleets/f1/vehicles/bench%20car%2F1/telemetry')).toEqual({
    ignition: { createdAt: stamp, type: 'Start' },
    wipingBlades: { createdAt: stamp, active: true, speed: 'High' },
    kinetic: { speed: 50 },
    adas: { aebs: 'Off' },
  });
});

test('user line: only ignition has a time, and aebs has its own spelling', async () => {
  expect(await vehicleOf('/user/vehicles/bench%20car%2F1/telemetry')).toEqual({
    ignition: { createdAt: stamp, type: 'Start' },
    wipingBlades: { active: true, speed: 'High' },
    kinetic: { speed: 50 },
    adas: { aebs: 'off' },
  });
});
