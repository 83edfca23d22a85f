/** The interface as `assembly/` starts it, with the handlers of all resources and as configured. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import type { MonitorBook } from '../../../adapters/http/resources/car.ts';
import { memoryOutboxStore } from '../../../adapters/store/index.ts';
import { Status } from '../../../agent/model/status.ts';
import type { RecordStore, StoredRecord } from '../../../agent/ports.ts';
import { Requests } from '../../../agent/remotes/requests.ts';
import { type InterfaceOptions, startInterface } from '../../../assembly/interface.ts';
import { loadVehicle } from '../../../assembly/vehicle.ts';
import { loadConfiguration } from '../../../config/configuration.ts';
import { hashCheaply } from '../../rig/cheap-password.ts';
import { MemoryLog } from '../../rig/log.ts';
import { carOf } from './resources/rig.ts';
import { fetchJson } from './rig.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-interface-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const trips: StoredRecord[] = Array.from({ length: 5 }, (_, n) => {
  const at = Date.UTC(2026, 0, 1, n);
  return { id: `t${n}`, at, record: { id: `t${n}`, createdAt: at, startedAt: at, done: true } };
});
const records: RecordStore = {
  put: () => undefined,
  get: (collection, id) => (collection === 'trip' ? trips.find((one) => one.id === id) : undefined),
  list: (collection) => (collection === 'trip' ? trips : []),
};
const noMonitors: MonitorBook = {
  all: [],
  get: () => undefined,
  put: () => Promise.reject(new Error('none is put here')),
  setStatus: () => Promise.reject(new Error('none is set here')),
  remove: () => Promise.resolve(false),
};

const VIN = 'VF3VGEOWN00000001';
const clock = new SystemClock();

async function start(http: InterfaceOptions['http']) {
  const status = new Status();
  const running = await startInterface({
    http,
    view: carOf({ status, records, monitors: noMonitors }),
    own: {
      vin: VIN,
      vehicle: loadVehicle('bench'),
      agent: { waiting: 0, status, requests: new Requests({ vin: VIN, clock, receive: async () => undefined }) },
      link: { connected: false },
      commands: false,
      store: memoryOutboxStore(),
      clock,
    },
    status,
    data: folder,
    timeKnown: () => true,
    clock,
    log: new MemoryLog(),
  });
  onTestFinished(() => running.stop());
  return running;
}

const local = { local: true, port: 0 } as const;

test('the bench serves both sides, the page, the OpenAPI document with its page, and live changes', async () => {
  const { url } = await start(local);
  for (const path of [
    '/connectedcar/v3/fleets',
    '/connectedcar/v4/user',
    '/openapi.json',
    '/docs',
    '/',
    '/vigie/v1/car',
  ]) {
    expect([path, (await fetchJson(`${url}${path}`, {})).status]).toEqual([path, 200]);
  }
});

test('paging through a collection continues after a restart', async () => {
  const first = await start(local);
  const path = '/connectedcar/v4/user/vehicles/bench%20car%2F1/trips?pageSize=2';
  const { json } = await fetchJson(`${first.url}${path}`, {});
  const next = (json as { _links: { next: { href: string } } })._links.next.href;
  await first.stop();
  expect(statSync(join(folder, 'pages.key')).mode & 0o777).toBe(0o600);
  const second = await start(local);
  const page = await fetchJson(next.replace(first.url, second.url), {});
  expect(page.json).toMatchObject({ total: 5, totalPage: 3, currentPage: 2 });
  writeFileSync(join(folder, 'pages.key'), 'damaged');
  const third = await start(local);
  expect((await fetchJson(next.replace(first.url, third.url), {})).status).toBe(400);
  expect(readFileSync(join(folder, 'pages.key'))).toHaveLength(32);
});

test('the configuration decides who is admitted', async () => {
  writeFileSync(join(folder, 'password'), await hashCheaply('s3cret'), { mode: 0o600 });
  const file = join(folder, 'vigie.yaml');
  writeFileSync(
    file,
    `configuration: 1
vin: VF30A00000B000042
profile: bench
can: [{ bus: body, simulated: true }]
mqtt: { url: mqtts://broker.example }
http:
  listen: 127.0.0.1:0
  fleet: [{ name: operator, passwordFile: password, clientId: app, fleets: [f1] }]
`,
  );
  const { configuration, diagnostics } = loadConfiguration(file, {});
  expect(diagnostics).toEqual([]);
  const http = configuration?.http;
  if (http === undefined) throw new Error('the interface is configured');
  const { url } = await start(http);
  const authorization = `Basic ${Buffer.from('operator:s3cret').toString('base64')}`;
  const { status, json, headers } = await fetchJson(`${url}/fleets?client_id=app`, { headers: { authorization } });
  expect(status).toBe(200);
  expect(json).toMatchObject({ total: 1, _embedded: { fleets: [{ id: 'f1' }] } });
  expect(headers['x-ratelimit-limit-1']).toBe('86400');
  expect((await fetchJson(`${url}/fleets?client_id=app`, {})).status).toBe(401);
  expect((await fetchJson(`${url}/user`, { headers: { authorization } })).status).toBe(404);
});
