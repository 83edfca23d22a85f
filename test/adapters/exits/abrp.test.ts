/** Messages to A Better Routeplanner, at a server of the test, with a Status and a clock that the test controls. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { AbrpExit } from '../../../adapters/exits/abrp.ts';
import { Status } from '../../../agent/model/status.ts';
import { scopeOfPath } from '../../../protocol/interface/visible-members.ts';
import { type SlotValue, slotByPath } from '../../../protocol/slots.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { abrpFaults } from './abrp-checker.ts';

interface Request {
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: { readonly token: string; readonly tlm: Readonly<Record<string, unknown>> };
}

let server: Server;
let answer: { readonly status: number; readonly body: string } = { status: 200, body: '{"status":"ok"}' };
const requests: Request[] = [];
let clock: VirtualClock;
let log: MemoryLog;
let status: Status;
let exit: AbrpExit;
let scopes: string[];
let timeKnown: boolean;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = (await json(request)) as Request['body'];
    requests.push({ url: request.url, authorization: request.headers.authorization, body });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});
beforeEach(() => {
  requests.length = 0;
  answer = { status: 200, body: '{"status":"ok"}' };
  [clock, log, status] = [new VirtualClock(), new MemoryLog(), new Status()];
  scopes = ['data:telemetry', 'data:position'];
  timeKnown = true;
  exit = new AbrpExit({
    ...{ status, clock, log },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    apiKey: () => 'key',
    token: () => 'car',
    sees: ({ path }) => scopes.includes(scopeOfPath(path)),
    timeKnown: () => timeKnown,
  });
});
afterEach(() => exit.close());

function read(values: Readonly<Record<string, SlotValue>>): void {
  for (const [path, value] of Object.entries(values)) {
    const slot = slotByPath.get(path);
    if (slot === undefined) throw new Error(`no slot ${path}`);
    status.write(slot, value, clock.now());
  }
}

const DRIVING = {
  'kinetic.moving': true,
  'kinetic.speed': 88,
  'energies.Electric.level': 61.5,
  'energies.Electric.extension.electric.battery.load.capacity': 52_000,
  'lastPosition.latitude': 48.8566,
  'lastPosition.longitude': 2.3522,
  'energies.Electric.extension.electric.charging.status': 'Disconnected',
};

test('a car that drives sends its published fields, with the key and the token', async () => {
  read(DRIVING);
  await exit.poke();
  expect(requests).toMatchObject([
    {
      url: '/1/tlm/send',
      authorization: 'APIKEY key',
      body: {
        token: 'car',
        tlm: { soc: 61.5, speed: 88, capacity: 52, lat: 48.8566, is_charging: false, is_parked: false },
      },
    },
  ]);
  expect(requests.flatMap(({ body }) => abrpFaults(body))).toEqual([]);
});

test.each([
  ['drives', DRIVING, 10_000],
  [
    'charges',
    { ...DRIVING, 'kinetic.moving': false, 'energies.Electric.extension.electric.charging.status': 'InProgress' },
    10_000,
  ],
  ['is parked', { ...DRIVING, 'kinetic.moving': false }, 1_800_000],
])('a car that %s sends again after the interval of that state', async (_, values, interval) => {
  read(values);
  await exit.poke();
  clock.stall(interval - 1);
  await exit.poke();
  expect(requests).toHaveLength(1);
  clock.stall(1);
  await exit.poke();
  expect(requests).toHaveLength(2);
});

test('sends nothing without a state of charge, or while the time is unknown', async () => {
  await exit.poke();
  read(DRIVING);
  timeKnown = false;
  await exit.poke();
  expect(requests).toEqual([]);
});

test('sends no position without its scope', async () => {
  read(DRIVING);
  scopes = ['data:telemetry'];
  await exit.poke();
  expect(requests[0]?.body.tlm).not.toHaveProperty('lat');
  expect(requests[0]?.body.tlm).toHaveProperty('soc');
});

test('a wrong answer is logged, at first and then ever more rarely, and does not end the exit', async () => {
  read(DRIVING);
  for (const wrong of ['{"status":"error: bad token"}', '<html>Sign in</html>', '{"status":"error"}']) {
    answer = { status: 200, body: wrong };
    await exit.poke();
    clock.stall(10_000);
  }
  answer = { status: 200, body: '{"status":"ok"}' };
  await exit.poke();
  expect(requests).toHaveLength(4);
  expect(log.lines.map(({ event, fields }) => [event, fields?.['times']])).toEqual([
    ['exit.abrpFailed', 1],
    ['exit.abrpFailed', 2],
  ]);
});

test('a test sends the present values at once, and fails with the reason if they are unknown or refused', async () => {
  await expect(exit.test()).rejects.toThrow('the charge or the time is not known yet');
  read(DRIVING);
  await exit.poke();
  await exit.test();
  expect(requests).toHaveLength(2);
  expect(exit.report).toEqual({ waiting: 0, lost: 0, refused: 0, succeededAt: clock.now() });
  answer = { status: 200, body: '{"status":"error: bad token"}' };
  await expect(exit.test()).rejects.toThrow('bad token');
  expect(exit.report.error).toContain('bad token');
});
