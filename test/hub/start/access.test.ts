/** Access to the data of a hub with a registry, and rights of the clients at its broker. */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { hubCommand } from '../../../commands/hub.ts';
import { signToken } from '../../../hub/http/access.ts';
import { issueAccess } from '../../../hub/start/access.ts';
import { digestOf } from '../../../hub/start/clients.ts';
import { type Hub, startHub } from '../../../hub/start/hub.ts';
import { type OpenRegistry, openRegistry } from '../../../hub/start/registry.ts';
import { defined } from '../../../protocol/defined.ts';
import { scopeNames } from '../../../protocol/interface/operations/scopes.ts';
import { rolloutScope } from '../../../protocol/interface/own/rollouts.ts';
import type { Alert } from '../../../protocol/schema/alert.ts';
import { downFilter, upTopic } from '../../../protocol/topics.ts';
import { EventClient, type ServerEvent } from '../../rig/event-stream.ts';
import { MemoryLog } from '../../rig/log.ts';
import { MqttClient } from '../../rig/mqtt-client.ts';
import { foreignSigner, hubTokenKeys } from '../hub-tokens.ts';
import { NOON, payloadOf, trip } from '../messages.ts';

const [NORTH, SOUTH, STRANGER] = ['VF3VGEHVBA0000001', 'VF3VGEHVBA0000002', 'VF3VGEHVBA0000003'] as const;
const FORGOTTEN = 'VF3VGEHVBA0000004';
const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-access-'));
const data = join(folder, 'hub');
const log = new MemoryLog();
const passwords = new Map([NORTH, SOUTH].map((vin) => [vin as string, `password of ${vin}`]));
const SIGNALS = ['signals', 'signals/Vehicle.Speed', 'signals/Vehicle.Speed/history'];
let hub: Hub;
let open: OpenRegistry;

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

interface Grant {
  readonly name?: string;
  readonly fleets?: readonly string[];
  readonly scopes?: readonly string[];
  readonly expires?: number;
}

async function token({ name = 'ops', scopes = scopeNames, expires = Date.now() + 60_000, ...grant }: Grant = {}) {
  const issued = Date.now();
  return issueAccess(await hubTokenKeys({ data }), open.registry, { name, scopes, issued, expires, ...grant });
}

async function ask(path: string, authorization?: string, body?: object): Promise<{ status: number; body: Json }> {
  const url = path.startsWith('http') ? path : `${hub.interface.url}${path}`;
  const response = await fetch(url, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      ...defined({ authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  });
  return { status: response.status, body: await response.json() };
}

const connect = (vin: string, more: { clientId?: string; username?: string; password?: string } = {}) =>
  MqttClient.connect(hub.broker, { clientId: vin, username: vin, password: passwords.get(vin) ?? 'none', ...more });

const vinsIn = ({ body }: { body: Json }): string[] => body._embedded.vehicles.map(({ vin }: Json) => vin).toSorted();

/** Output of `vigie hub`. */
async function said(...words: string[]): Promise<string> {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await hubCommand().parseAsync([...words, '--data', data], { from: 'user' });
    return written.mock.calls.map(([text]) => text).join('');
  } finally {
    written.mockRestore();
  }
}

beforeAll(async () => {
  open = await openRegistry({ data }, log);
  const { registry } = open;
  await registry.add(
    NORTH,
    [
      { kind: 'fleet', id: 'north' },
      { kind: 'user', id: 'ada' },
    ],
    Date.now(),
  );
  await registry.add(SOUTH, [{ kind: 'fleet', id: 'south' }], Date.now());
  for (const [vin, password] of passwords) await registry.setPassword(vin, digestOf(password));
  hub = await startHub({ data, port: 0, http: 0, clock: new SystemClock(), log });
  for (const vin of [NORTH, SOUTH]) {
    const car = await connect(vin);
    const id = vin === NORTH ? 'aa' : 'bb';
    expect(
      await car.publish(upTopic(vin, 'trip'), payloadOf('trip', trip(id, { done: true, stoppedAt: NOON }), { vin })),
    ).toBe('acknowledged');
    await car.end();
  }
});

afterAll(async () => {
  await open.close();
  await hub.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('requests without a token, with another hub’s token or with an expired token are refused', async () => {
  const foreign = await signToken(foreignSigner, {
    id: randomUUID(),
    name: 'ops',
    fleets: ['north'],
    scopes: [...scopeNames],
    issued: Date.now(),
    expires: Date.now() + 60_000,
  });
  const expired = await token({ fleets: ['north'], expires: Date.now() - 120_000 });
  for (const path of ['/fleets', '/fleets/north/vehicles', '/user/vehicles', '/vigie/v1/vehicles']) {
    expect((await ask(path)).status).toBe(401);
    expect((await ask(path, `Bearer ${foreign}`)).status).toBe(401);
    expect((await ask(path, `Bearer ${expired}`)).status).toBe(401);
  }
});

test('a fleet token shows only the cars of that fleet', async () => {
  const north = `Bearer ${await token({ fleets: ['north'] })}`;
  expect((await ask('/fleets', north)).body._embedded.fleets.map(({ id }: Json) => id)).toEqual(['north']);
  expect(vinsIn(await ask('/fleets/north/vehicles', north))).toEqual([NORTH]);
  expect((await ask('/fleets/south/vehicles', north)).status).toBe(403);
  expect((await ask('/fleets/north/trips', north)).body._embedded.trips.map(({ id }: Json) => id)).toEqual(['aa']);
  const [own] = (await ask('/fleets/north/vehicles', north)).body._embedded.vehicles;
  expect((await ask(own._links.trips.href, north)).body.total).toBe(1);
  const south = `Bearer ${await token({ fleets: ['south'] })}`;
  const [other] = (await ask('/fleets/south/vehicles', south)).body._embedded.vehicles;
  for (const path of [`vehicles/${other.id}`, `vehicles/${other.id}/trips`, `vehicles/${other.id}/status`]) {
    expect([path, (await ask(`/fleets/north/${path}`, north)).status]).toEqual([path, 404]);
  }
  const both = `Bearer ${await token({ fleets: ['north', 'south'] })}`;
  expect(vinsIn(await ask('/fleets/south/vehicles', both))).toEqual([SOUTH]);
  expect((await ask('/user/vehicles', north)).status).toBe(403);
});

test('/vigie/v1 shows the same cars as the published interface', async () => {
  const north = `Bearer ${await token({ fleets: ['north'] })}`;
  const table = (await ask('/vigie/v1/vehicles', north)).body;
  expect([table.total, table.vehicles.map(({ vin }: Json) => vin)]).toEqual([1, [NORTH]]);
  expect((await ask('/vigie/v1/events', north)).body.events.map(({ vin }: Json) => vin)).toEqual([NORTH]);
  expect((await ask(`/vigie/v1/vehicles/${NORTH}/numbers`, north)).status).toBe(200);
  for (const rest of ['numbers', 'remotes', 'values', 'car', 'live', ...SIGNALS]) {
    expect([rest, (await ask(`/vigie/v1/vehicles/${SOUTH}/${rest}`, north)).status]).toEqual([rest, 404]);
  }
  expect((await ask(`/vigie/v1/vehicles/${NORTH}/signals`, north)).body).toEqual({ signals: [] });
  const order = { door: { state: 'Locked' } };
  expect((await ask(`/vigie/v1/vehicles/${SOUTH}/remotes`, north, order)).status).toBe(404);
});

test('custom signals need the rights to both values and positions', async () => {
  for (const scopes of [['data:telemetry'], ['data:position']]) {
    for (const grant of [{ name: 'ada' }, { fleets: ['north'] }]) {
      const reader = `Bearer ${await token({ ...grant, scopes })}`;
      for (const rest of SIGNALS) {
        for (const vin of [NORTH, SOUTH]) {
          expect([rest, (await ask(`/vigie/v1/vehicles/${vin}/${rest}`, reader)).status]).toEqual([rest, 403]);
        }
      }
    }
  }
});

test('a user token shows the user’s cars with the published scopes', async () => {
  const ada = `Bearer ${await token({ name: 'ada' })}`;
  expect(vinsIn(await ask('/user/vehicles', ada))).toEqual([NORTH]);
  expect((await ask('/fleets/north/vehicles', ada)).status).toBe(403);
  expect((await ask('/fleets', ada)).body.total).toBe(0);
  expect((await ask(`/vigie/v1/vehicles/${NORTH}/numbers`, ada)).status).toBe(200);
  expect((await ask(`/vigie/v1/vehicles/${SOUTH}/numbers`, ada)).status).toBe(404);
  const trips = `Bearer ${await token({ name: 'ada', scopes: ['data:trip'] })}`;
  const [{ id }] = (await ask('/user/vehicles', trips)).body._embedded.vehicles;
  expect((await ask(`/user/vehicles/${id}/trips`, trips)).status).toBe(200);
  expect((await ask(`/user/vehicles/${id}/alerts`, trips)).status).toBe(403);
  expect(vinsIn(await ask('/user/vehicles', `Bearer ${await token({ name: 'bob' })}`))).toEqual([]);
});

test('a command needs the scope of its kind, and the audit trail has the name of the token', async () => {
  const order = { door: { state: 'Locked' } };
  const path = `/vigie/v1/vehicles/${NORTH}/remotes`;
  const reader = `Bearer ${await token({ fleets: ['north'], scopes: ['data:trip'] })}`;
  expect((await ask(path, reader, order)).status).toBe(403);
  const given = await ask(path, `Bearer ${await token({ name: 'the night shift', fleets: ['north'] })}`, order);
  expect(given).toMatchObject({ status: 202, body: { requestedBy: 'the night shift' } });
});

test('a browser can send the token as a password', async () => {
  const basic = `Basic ${Buffer.from(`x:${await token({ fleets: ['north'] })}`).toString('base64')}`;
  expect(vinsIn(await ask('/fleets/north/vehicles', basic))).toEqual([NORTH]);
  expect((await ask('/fleets', `Basic ${Buffer.from('x:no token').toString('base64')}`)).status).toBe(401);
});

test('the broker admits a car only with its own password and its own client id', async () => {
  for (const more of [{ password: 'wrong' }, { username: SOUTH }, { clientId: SOUTH }]) {
    await expect(connect(NORTH, more)).rejects.toThrow(/Not authorized/);
  }
  await expect(MqttClient.connect(hub.broker, { clientId: 'any' })).rejects.toThrow(/Not authorized/);
  await expect(connect(STRANGER)).rejects.toThrow(/Not authorized/);
  expect(log.lines.filter(({ event }) => event === 'hub.client.refused').length).toBeGreaterThanOrEqual(4);
});

test('repeated connection attempts of a forgotten car are logged once, as forgotten', async () => {
  await open.registry.add(FORGOTTEN, [{ kind: 'fleet', id: 'north' }], Date.now());
  await open.registry.forget(FORGOTTEN, Date.now());
  for (let attempt = 0; attempt < 3; attempt++) await expect(connect(FORGOTTEN)).rejects.toThrow(/Not authorized/);
  const lines = log.lines.filter(({ fields }) => String(fields?.['client']).includes(FORGOTTEN));
  expect(lines.map(({ fields }) => fields?.['reason'])).toEqual([
    `the car ${FORGOTTEN} was forgotten: vigie hub add lets it in again`,
  ]);
});

test('a car can neither publish nor subscribe under the VIN of another', async () => {
  const car = await connect(NORTH);
  const filters = [downFilter(SOUTH), 'vigie/1/+/down/+', '#', `vigie/1/${NORTH}/up/+`, `vigie/+/${NORTH}/down/+`];
  for (const filter of filters) expect([filter, await car.subscribe(filter)]).toEqual([filter, 'refused']);
  expect(await car.subscribe(downFilter(NORTH))).toBe('granted');
  const foreign = payloadOf('trip', trip('cc'), { vin: SOUTH, seq: 7 });
  // MQTT 3.1.1 has no negative answer to a publish: the connection ends.
  expect(await car.publish(upTopic(SOUTH, 'trip'), foreign)).toBe('ended');
  const again = await connect(NORTH);
  expect(await again.publish(`vigie/1/${NORTH}/down/remote`, foreign)).toBe('ended');
  const numbers = await hub.store.numbers(SOUTH);
  expect(numbers).toMatchObject([{ arrived: [[0, 0]] }]);
});

test('garbage and repeated messages of a car are acknowledged and change nothing', async () => {
  const car = await connect(NORTH);
  expect(await car.publish(upTopic(NORTH, 'trip'), Uint8Array.of(1, 2, 3))).toBe('acknowledged');
  for (let time = 0; time < 3; time++) {
    expect(await car.publish(upTopic(NORTH, 'trip'), payloadOf('trip', trip('aa'), { vin: NORTH }))).toBe(
      'acknowledged',
    );
  }
  expect(await hub.store.numbers(NORTH)).toMatchObject([{ arrived: [[0, 0]] }]);
  await car.end();
});

test('an alert is found even if a car of another fleet has an alert with the same id', async () => {
  // Record ids are unique only within one car.
  const alert = { id: 'ee', createdAt: NOON, startedAt: NOON, type: 'AdBlueFault', active: true } as Alert;
  const cars = [
    ['north', NORTH],
    ['south', SOUTH],
  ] as const;
  for (const [, vin] of cars) {
    const car = await connect(vin);
    expect(await car.publish(upTopic(vin, 'alert'), payloadOf('alert', alert, { vin }))).toBe('acknowledged');
    await car.end();
  }
  for (const [fleet, vin] of cars) {
    const authorization = `Bearer ${await token({ fleets: [fleet] })}`;
    const { status, body } = await ask(`/fleets/${fleet}/alerts/ee`, authorization);
    expect([fleet, status]).toEqual([fleet, 200]);
    expect((await ask(body._links.vehicle.href, authorization)).body.vin).toBe(vin);
  }
});

test('a fleet sees its events even after hundreds of newer events from another fleet', async () => {
  const car = await connect(NORTH);
  const alert = { createdAt: NOON, startedAt: NOON, type: 'AdBlueFault', active: true } as const;
  const told = Array.from({ length: 210 }, (_, index) => {
    const payload = payloadOf('alert', { ...alert, id: `ff${index}` }, { vin: NORTH, seq: 1 + index });
    return car.publish(upTopic(NORTH, 'alert'), payload);
  });
  expect(new Set(await Promise.all(told))).toEqual(new Set(['acknowledged']));
  await car.end();
  const south = `Bearer ${await token({ fleets: ['south'] })}`;
  const { body } = await ask('/vigie/v1/events', south);
  expect(body.events.map(({ vin, kind }: Json) => [vin, kind])).toEqual([
    [SOUTH, 'alert'],
    [SOUTH, 'trip'],
  ]);
});

test('a removed car is disconnected and refused, admitted again when added, and can be forgotten', async () => {
  const car = await connect(SOUTH);
  const { registry } = open;
  await registry.remove(SOUTH, Date.now());
  await car.closed;
  await expect(connect(SOUTH)).rejects.toThrow(/Not authorized/);
  await registry.add(SOUTH, [], Date.now());
  await registry.setPassword(SOUTH, digestOf(passwords.get(SOUTH) ?? ''));
  const again = await connect(SOUTH);
  await registry.forget(SOUTH, Date.now());
  await again.closed;
  const south = `Bearer ${await token({ fleets: ['south'] })}`;
  expect(vinsIn(await ask('/fleets/south/vehicles', south))).toEqual([]);
});

test('roll-outs show only the caller’s fleets, and stopping one needs its own scope', async () => {
  const rollout = {
    id: 'ab01',
    fleet: 'north',
    name: 'fleet.yaml',
    digest: 'd',
    body: new Uint8Array(),
    caller: 'ops',
  };
  await open.rollouts.begin({ ...rollout, created: NOON, first: 5, tolerated: 0 });
  const bearer = async (grant: Grant): Promise<string> => `Bearer ${await token(grant)}`;
  const [north, south, ada] = await Promise.all(
    [{ fleets: ['north'] }, { fleets: ['south'] }, { name: 'ada' }].map(bearer),
  );
  const paths = ['/vigie/v1/rollouts', '/vigie/v1/rollouts/ab01'] as const;
  expect(await ask(paths[0], north)).toMatchObject({
    status: 200,
    body: { rollouts: [{ id: 'ab01', fleet: 'north' }] },
  });
  expect(await ask(paths[1], north)).toMatchObject({ status: 200, body: { cars: [{ vin: NORTH, state: 'waiting' }] } });
  for (const other of [south, ada]) {
    expect(await ask(paths[0], other)).toMatchObject({ status: 200, body: { rollouts: [] } });
    expect((await ask(paths[1], other)).status).toBe(404);
  }
  const stop = async (authorization?: string): Promise<number> => {
    const headers = defined({ authorization });
    return (await fetch(`${hub.interface.url}${paths[1]}/stop`, { method: 'POST', headers })).status;
  };
  const scopes = [...scopeNames, rolloutScope];
  expect(await Promise.all([stop(), stop(north), stop(await bearer({ fleets: ['south'], scopes }))])).toEqual([
    401, 403, 404,
  ]);
  expect((await ask(paths[1], north)).body.stage).toBe('first');
  expect(await stop(await bearer({ fleets: ['north'], scopes }))).toBe(200);
  expect((await ask(paths[1], north)).body).toMatchObject({ stage: 'stopped', reason: 'stopped by ops' });
});

test('a withdrawn token is refused at the next request and its stream ends; other tokens keep theirs', async () => {
  const printed = await said('token', '--fleet', 'north', '--name', 'lost');
  const kept = `Bearer ${(await said('token', '--fleet', 'north', '--name', 'kept')).trim()}`;
  const lost = `Bearer ${printed.trim()}`;
  const listed = (await said('token', '--list', '--format', 'ndjson')).trim().split('\n');
  const tokens = listed.map((line) => JSON.parse(line) as Json).slice(-2);
  expect(tokens).toMatchObject([{ name: 'lost', fleets: ['north'] }, { name: 'kept' }]);
  const streams = await Promise.all(
    [lost, kept].map((authorization) => EventClient.open(`${hub.interface.url}/vigie/v1/live`, { authorization })),
  );
  const [ofLost, ofKept] = streams as [EventClient, EventClient];
  const car = await connect(NORTH);
  const drive = (id: string, seq: number) =>
    car.publish(upTopic(NORTH, 'trip'), payloadOf('trip', trip(id), { vin: NORTH, seq }));
  const tells = (id: string) => (event: ServerEvent) => JSON.stringify(event.data).includes(`"${id}"`);
  await drive('a8', 800);
  for (const stream of streams) await stream.until(tells('a8'));
  expect((await ask('/fleets/north/vehicles', lost)).status).toBe(200);

  expect(await said('token', '--withdraw', tokens[0].id)).toBe(`${tokens[0].id}: withdrawn\n`);

  const refused = await ask('/fleets/north/vehicles', lost);
  expect([refused.status, refused.body.message]).toEqual([401, expect.stringContaining('the token was withdrawn')]);
  expect((await ask('/vigie/v1/vehicles', lost)).status).toBe(401);
  expect((await ask('/fleets/north/vehicles', kept)).status).toBe(200);
  await ofLost.ended();
  await drive('a9', 801);
  await ofKept.until(tells('a9'));
  await Promise.all([ofKept.close(), car.end()]);
  expect(await said('token', '--list', '--format', 'text')).toMatch(/^\S+, lost, fleet north, .*, withdrawn /m);
  expect(await said('token', '--withdraw', tokens[0].id)).toBe(`${tokens[0].id}: withdrawn\n`);
});

test('a token that is missing from the database is refused and can be withdrawn by its id', async () => {
  const id = randomUUID();
  const times = { issued: Date.now(), expires: Date.now() + 60_000 };
  const unknown = await signToken(await (await hubTokenKeys({ data })).signer(), {
    id,
    name: 'ops',
    fleets: ['north'],
    scopes: [...scopeNames],
    ...times,
  });
  for (const path of ['/fleets/north/vehicles', '/vigie/v1/vehicles', '/vigie/v1/live']) {
    expect(await ask(path, `Bearer ${unknown}`)).toMatchObject({ status: 401 });
  }
  expect(await said('token', '--withdraw', id)).toMatch(new RegExp(`^${id}: withdrawn \\(not in the list `));
  await expect(said('token', '--withdraw', id.slice(1))).rejects.toThrow('is not the id of a token');
});

test('withdrawing all tokens leaves later tokens valid', async () => {
  const before = `Bearer ${await token({ fleets: ['north'] })}`;
  expect((await ask('/fleets', before)).status).toBe(200);
  expect(await said('token', '--withdraw', 'all')).toMatch(/^\d+ tokens withdrawn\n$/);
  expect((await ask('/fleets', before)).status).toBe(401);
  expect((await ask('/fleets', `Bearer ${await token({ fleets: ['north'] })}`)).status).toBe(200);
});
