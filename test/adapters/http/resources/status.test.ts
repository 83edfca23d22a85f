/** Status of a car in any state, as the interface shows it. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MemoryRecords } from '../../../../adapters/store/index.ts';
import { Status } from '../../../../agent/model/status.ts';
import type { StatusContents } from '../../../../protocol/schema/status.ts';
import { assemble } from '../../../../protocol/slots.ts';
import { knowledge } from '../../../protocol/schema/arbitrary.ts';
import { MIDNIGHT } from '../../../rig/day.ts';
import { Reference } from './reference.ts';
import { Asker, carOf, entriesOf, type Json, NOW } from './rig.ts';

const FLEET = '/fleets/f1/vehicles/bench%20car%2F1';
const USER = '/user/vehicles/bench%20car%2F1';
const nothing = { all: [], get: () => undefined, put: () => fail(), setStatus: () => fail(), remove: () => fail() };

async function fail(): Promise<never> {
  throw new Error('nobody asks for this');
}

function carThatShows(contents: StatusContents): Asker {
  const status = new Status();
  status.restore(contents);
  return new Asker(carOf({ status, records: new MemoryRecords(), monitors: nothing }));
}

const at = MIDNIGHT + 1;
const full: StatusContents = {
  odometer: { createdAt: at, mileage: 12_345.6 },
  lastPosition: {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [2.35, 48.85, 35] },
    properties: { createdAt: at, heading: 90, type: 'Acquire', fixStatus: '3D', signalQuality: 7 },
  },
  energies: [
    {
      createdAt: at,
      type: 'Fuel',
      subType: 'FossilEnergy',
      level: 40,
      autonomy: 300,
      extension: { fuel: { consumptions: { total: 100, instant: 5.5 } } },
    },
    {
      createdAt: at,
      type: 'Electric',
      subType: 'ElectricEnergy',
      level: 82.5,
      autonomy: 40,
      extension: {
        electric: {
          battery: { load: { createdAt: at, residual: 8200, capacity: 10_000 } },
          charging: { plugged: true, remainingTime: 'PT45M' },
        },
      },
    },
  ],
  engines: [{ createdAt: at, type: 'Thermic', speed: 900, extension: { thermic: { oil: { temp: 90.5 } } } }],
  adas: { createdAt: at, aebs: 'Off' },
  preconditioning: { airConditioning: { createdAt: at, status: 'Enabled', programs: [] } },
  alarm: {
    trigger: {
      createdAt: at,
      type: 'RoofBreakIn',
      startAt: at,
      position: { type: 'Feature', geometry: { type: 'Point', coordinates: [2, 48] }, properties: { createdAt: at } },
    },
  },
  stolen: { createdAt: at, state: true, id: 'ab-1', startedAt: at },
  autonomy: 340,
};

async function shown(address: string, scopes?: readonly string[]): Promise<Json> {
  const caller = { name: 'u', ...(scopes === undefined ? {} : { scopes: new Set(scopes) }) };
  return (await carThatShows(full).get(address, { caller })).body;
}

test('fleet line: has the VIN and our additions, and no deprecated aliases', async () => {
  const status = await shown(`${FLEET}/status`);
  expect(status).toMatchObject({
    vin: 'VF3VGEBENCH000001',
    createdAt: new Date(NOW).toISOString(),
    updatedAt: '2026-03-10T00:00:00.001Z',
    odometer: { createdAt: '2026-03-10T00:00:00.001Z', mileage: 12_345.6 },
    vehicleOdometer: { createdAt: '2026-03-10T00:00:00.001Z', mileage: 12_345.6 },
    autonomy: 340,
    adas: { aebs: 'Off' },
    stolen: { state: true, startedAt: '2026-03-10T00:00:00.001Z' },
  });
  expect(status.lastPosition).toEqual({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [2.35, 48.85, 35] },
    properties: {
      createdAt: '2026-03-10T00:00:00.001Z',
      heading: 90,
      type: 'Acquire',
      fixStatus: '3D',
      signalQuality: 7,
      vin: 'VF3VGEBENCH000001',
    },
  });
  expect(status.alarm.trigger.position.properties.vin).toBe('VF3VGEBENCH000001');
  expect(status.energies[1].extension.electric).not.toHaveProperty('residual');
  expect(status.engines[0]).not.toHaveProperty('oil');
  expect(status).not.toHaveProperty('energy');
  expect(status).not.toHaveProperty('preconditionning');
  expect(status.preconditioning.airConditioning).not.toHaveProperty('programs');
});

test.each([`${USER}/status`, `${FLEET}/status?profile=endUser`])(
  '%s: has the aliases that old clients read',
  async (address) => {
    const status = await shown(address);
    expect(status.preconditionning).toEqual(status.preconditioning);
    expect(status.energy).toEqual(status.energies[1]);
    expect(status.energies[0].extension.fuel.consumption).toEqual({ consumption: 5.5 });
    expect(status.energies[1].extension.electric.residual).toEqual({ consumption: 8.2 });
    expect(status.energies[1].extension.electric.battery).toMatchObject({
      capacity: 10_000,
      load: { capacity: 10_000 },
    });
    expect(status.energies[1].updatedAt).toBe(status.energies[1].createdAt);
    expect(status.engines[0].oil).toEqual({ temp: 90.5 });
    expect(status.preconditionning.airConditioning.updatedAt).toBe('2026-03-10T00:00:00.001Z');
  },
);

test('user line: has no VIN, and its own spelling of aebs', async () => {
  const status = await shown(`${USER}/status`);
  expect(JSON.stringify(status)).not.toContain('VF3VGEBENCH000001');
  expect(status.adas.aebs).toBe('off');
});

test('a missing scope removes its members', async () => {
  const without = await shown(`${USER}/status`, ['data:telemetry']);
  expect(without).not.toHaveProperty('lastPosition');
  expect(without.alarm.trigger).not.toHaveProperty('position');
  expect(without.odometer.mileage).toBe(12_345.6);
  const only = await shown(`${USER}/status`, ['data:position']);
  expect(Object.keys(only).sort()).toEqual(['_links', 'createdAt', 'lastPosition', 'updatedAt']);
  // Links to forbidden resources are left out.
  expect(Object.keys(only._links)).toEqual(['self', 'vehicle']);
});

test('a car without any known value has a status, and no position', async () => {
  const asker = carThatShows({});
  const { body } = await asker.get(`${FLEET}/status`);
  expect(Object.keys(body).sort()).toEqual(['_links', 'createdAt', 'vin']);
  await expect(asker.get(`${FLEET}/lastPosition`)).rejects.toMatchObject({ code: 'request.unknown' });
  await expect(asker.get(`${FLEET}/maintenance`)).rejects.toMatchObject({ code: 'request.unknown' });
  const vehicle = (await asker.get(FLEET)).body;
  expect(vehicle._links).not.toHaveProperty('lastPosition');
  expect(vehicle._links).not.toHaveProperty('maintenance');
});

describe('a random status', () => {
  test('is as published on both sides', async () => {
    const [fleet, user] = [new Reference('fleet'), new Reference('user')];
    await fc.assert(
      fc.asyncProperty(knowledge, async ({ values, createdAt }) => {
        const asker = carThatShows(assemble(values, createdAt));
        const [one, other] = [await asker.get(`${FLEET}/status`), await asker.get(`${USER}/status`)];
        expect(fleet.faults('GET /fleets/{fid}/vehicles/{vid}/status', one.body)).toEqual([]);
        expect(user.faults('GET /user/vehicles/{id}/status', other.body)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

test("the last page of a fleet's list has its only entry, also when it is requested later", async () => {
  const asker = carThatShows(full);
  const { body } = await asker.get('/fleets/f1/status', { now: NOW });
  expect(body.total).toBe(1);
  const { last } = body._links as unknown as { last: Json };
  const page = await asker.get(last.href, { now: NOW + 1_000 });
  expect([page.body.total, entriesOf(page.body, 'status').length]).toEqual([1, 1]);
});
