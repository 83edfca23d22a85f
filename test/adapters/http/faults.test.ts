/** Fault codes over HTTP: a real agent reads them over a real ISO-TP bus, and a real server serves them. */
import { expect, onTestFinished, test } from 'vitest';
import type { Gate } from '../../../adapters/http/access/credentials.ts';
import { LocalGate } from '../../../adapters/http/access/local.ts';
import { type FaultCar, startFaultCar } from '../../agent/faults/car.ts';
import { type Rig, startRig } from './rig.ts';

const START = Date.UTC(2026, 0, 1, 12);
const EVERY = 600_000;
/** Milliseconds, longer than a reading takes. */
const READ = 8_000;

async function served(gate: Gate = new LocalGate()): Promise<FaultCar & { rig: Rig }> {
  const engine: Record<string, string> = {
    '0101': '4101 81 00 00 00',
    '03': '43 01 0143',
    '07': '47 01 C100',
    '020200': '4202 00 0143',
    '020000': '4200 00 40 08 00 00',
    '020D00': '420D 00 32',
  };
  const car = await startFaultCar({ units: { 2024: engine }, at: START, texts: { U0100: 'Engine is silent' } });
  onTestFinished(() => car.drop());
  await car.pass(READ);
  engine['07'] = '4700';
  await car.pass(EVERY + READ);
  return { ...car, rig: await startRig({ faults: car.view, clock: car.clock, gates: { fleet: gate } }) };
}

test('all fault codes are listed with their details, also those that have gone', async () => {
  const { rig } = await served();
  const { status, json } = await rig.get('/vigie/v1/faults');
  expect(status).toBe(200);
  const moment = expect.stringMatching(/^2026-01-01T12:\d\d:\d\d\.\d{3}Z$/);
  const common = { createdAt: moment, id: expect.any(String), unit: '7E8', firstSeenAt: moment, lastSeenAt: moment };
  expect(json).toEqual({
    faults: expect.arrayContaining([
      {
        ...common,
        active: true,
        code: 'P0143',
        group: 'Powertrain',
        status: ['Stored'],
        freezeFrame: [{ name: 'VehicleSpeed', value: 50, unit: 'kilometersPerHour' }],
      },
      {
        ...common,
        active: false,
        code: 'U0100',
        group: 'Network',
        status: ['Pending'],
        updatedAt: moment,
        text: 'Engine is silent',
      },
    ]),
    more: false,
  });
});

test('the last-seen time of a code that is still present is the last reading', async () => {
  const { rig } = await served();
  const { json } = await rig.get('/vigie/v1/faults?active=true');
  const [fault, ...others] = (json as { faults: { code: string; lastSeenAt: string }[] }).faults;
  expect([fault?.code, others]).toEqual(['P0143', []]);
  expect(Date.parse(fault?.lastSeenAt ?? '')).toBeGreaterThanOrEqual(START + EVERY);
});

test('the list can be limited to codes that have gone, and in length', async () => {
  const { rig } = await served();
  expect((await rig.get('/vigie/v1/faults?active=false')).json).toMatchObject({ faults: [{ code: 'U0100' }] });
  expect((await rig.get('/vigie/v1/faults?limit=1')).json).toMatchObject({ faults: [{}], more: true });
});

test.each([
  ['active=yes', 'must be true or false'],
  ['limit=0', 'must be a whole number from 1 to 1000'],
  ['code=P0143', 'there is no such parameter'],
])('%s is refused with an explanation', async (query, fault) => {
  const { rig } = await served();
  const { status, text } = await rig.get(`/vigie/v1/faults?${query}`);
  expect(status).toBe(400);
  expect(text).toContain(fault);
});

test('a user with access to positions only may not read fault codes', async () => {
  const gate: Gate = { challenge: 'Bearer', admit: () => ({ name: 'reader', scopes: new Set(['data:position']) }) };
  const { rig } = await served(gate);
  expect((await rig.get('/vigie/v1/faults')).status).toBe(403);
});

test('a server of a car that reads no fault codes has no such route, and other methods are refused', async () => {
  expect((await (await startRig()).get('/vigie/v1/faults')).status).toBe(404);
  const { rig } = await served();
  const { status, headers } = await rig.send('POST', '/vigie/v1/faults');
  expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
});
