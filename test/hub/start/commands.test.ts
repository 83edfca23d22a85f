/** Commands through a hub to a real car that trusts its key. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { type Hub, startHub } from '../../../hub/start/hub.ts';
import { MemoryLog } from '../../rig/log.ts';
import { DrivingCar } from '../driving-car.ts';

const VIN = 'VF3VGEHVBR0000001';
const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-commands-'));
const log = new MemoryLog();
let hub: Hub;
let car: DrivingCar;

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const url = path.startsWith('http') ? path : `${hub.interface.url}${path}`;
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Json };
}

const remotes = `/vigie/v1/vehicles/${VIN}/remotes`;
const final = new Set(['Success', 'AlreadyDone', 'Failed']);

/** Audit trail entry of a command once it has a final state. The car's time advances meanwhile. */
async function outcome(href: string): Promise<Json> {
  for (;;) {
    const { body } = await car.during(ask('GET', href));
    if (final.has(body.status)) return body;
  }
}

beforeAll(async () => {
  hub = await startHub({ data: join(folder, 'hub'), port: 0, http: 0, clock: new SystemClock(), log });
  car = new DrivingCar({
    vin: VIN,
    url: hub.broker,
    scenario: 'parked',
    trust: hub.trust,
    machineTime: true,
  });
  await car.start();
  await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'status'));
});

afterAll(async () => {
  await car.remove();
  await hub.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a command reaches the car, Success returns, and the audit trail has sender, time, content and every state', async () => {
  const begun = Date.now();
  const given = await ask('POST', remotes, { label: 'lock', door: { state: 'Locked' } });
  expect(given).toMatchObject({ status: 202, body: { type: 'Doors', status: 'Requested', requestedBy: 'local' } });
  const done = await outcome(given.body._links.self.href);
  expect(done).toMatchObject({
    remoteActionId: given.body.remoteActionId,
    type: 'Doors',
    body: { state: 'Locked' },
    status: 'Success',
  });
  expect(done.states.map(({ status }: Json) => status)).toEqual(['Accepted', 'SentToVehicle', 'Success']);
  expect(done.counter).toBeGreaterThanOrEqual(begun);
  expect(Date.parse(done.requestedAt)).toBeGreaterThanOrEqual(begun);
  expect(car.status.doorsState?.lockedStates).toEqual(expect.arrayContaining(['Locked']));

  const again = await ask('POST', remotes, { door: { state: 'Locked' } });
  expect((await outcome(again.body._links.self.href)).status).toBe('AlreadyDone');
  const trail = await ask('GET', remotes);
  expect(trail.body.remotes.map(({ remoteActionId }: Json) => remoteActionId)).toEqual([
    again.body.remoteActionId,
    given.body.remoteActionId,
  ]);
  const older = await ask('GET', `${remotes}?before=${again.body.remoteActionId}`);
  expect(older.body.remotes.map(({ remoteActionId }: Json) => remoteActionId)).toEqual([given.body.remoteActionId]);
});

test('a request repeated with its Idempotency-Key is one command', async () => {
  const headers = { 'Idempotency-Key': '"6f9619ff-8b86-4011-b42d-00c04fc964ff"' };
  const first = await ask('POST', remotes, { door: { state: 'Unlocked' } }, headers);
  const second = await ask('POST', remotes, { door: { state: 'Unlocked' } }, headers);
  expect(second.body.remoteActionId).toBe(first.body.remoteActionId);
  expect((await outcome(first.body._links.self.href)).status).toBe('Success');
  const { body } = await ask('GET', remotes);
  const known = body.remotes.filter(({ remoteActionId }: Json) => remoteActionId === first.body.remoteActionId);
  expect(known).toHaveLength(1);
});

test('an invalid command is refused with 400 or 404 and does not enter the audit trail', async () => {
  const before = (await ask('GET', remotes)).body.remotes.length;
  expect((await ask('POST', remotes, { door: { state: 'Ajar' } })).status).toBe(400);
  expect((await ask('POST', remotes, {})).status).toBe(400);
  const silent = '/vigie/v1/vehicles/VF3VGEHVBR0000009/remotes';
  expect((await ask('POST', silent, { door: { state: 'Unlocked' } })).status).toBe(404);
  expect((await ask('GET', `${remotes}/abc`)).status).toBe(404);
  expect((await ask('GET', `${remotes}?before=abc`)).status).toBe(400);
  expect((await ask('GET', remotes)).body.remotes).toHaveLength(before);
});
