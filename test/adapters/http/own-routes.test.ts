import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { keysOfSet } from '../../../adapters/http/access/token-keys.ts';
import { UserGate } from '../../../adapters/http/access/user.ts';
import { Snapshots } from '../../../adapters/http/snapshots.ts';
import { memoryOutboxStore, openStore } from '../../../adapters/store/index.ts';
import { Status } from '../../../agent/model/status.ts';
import { Requests } from '../../../agent/remotes/requests.ts';
import { reportOutbox } from '../../../assembly/own-outbox.ts';
import { ownViewOf } from '../../../assembly/own-view.ts';
import { loadVehicle } from '../../../assembly/vehicle.ts';
import type { CarDescription } from '../../../protocol/interface/own/car-description.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { startRig } from './rig.ts';

const VIN = 'VF3VGEOWN00000001';

function viewOf(pushKey?: string) {
  const clock = new SystemClock();
  const requests = new Requests({ vin: VIN, clock, receive: async () => undefined });
  const agent = { waiting: 0, status: new Status(), requests };
  const link = { connected: true };
  return {
    view: ownViewOf({
      vin: VIN,
      vehicle: loadVehicle('bench'),
      agent,
      link,
      commands: true,
      clock,
      pushKey,
      store: memoryOutboxStore(),
    }),
    agent,
  };
}

test('a caller can read the public key for push subscriptions; without a key the answer is empty', async () => {
  const snapshots = new Snapshots(new SystemClock());
  const keyless = await startRig({ own: { view: viewOf().view, snapshots } });
  expect((await keyless.get('/vigie/v1/push-key')).json).toEqual({});
  const rig = await startRig({ own: { view: viewOf('BKey').view, snapshots } });
  expect((await rig.get('/vigie/v1/push-key')).json).toEqual({ publicKey: 'BKey' });
});

test('the car reports the source of each value: bus, message, bits and conversion', async () => {
  const rig = await startRig({ own: { view: viewOf().view, snapshots: new Snapshots(new SystemClock()) } });
  const { status, json } = await rig.get('/vigie/v1/car');
  expect(status).toBe(200);
  const { vin, profile, values } = json as CarDescription;
  expect([vin, profile]).toEqual([VIN, 'bench']);
  // config/vehicles/bench/bench.dbc: BO_ 168 MOTION, SG_ Speed : 7|16@0+ (0.01,0)
  expect(values.find(({ path }) => path === 'kinetic.speed')).toEqual({
    path: 'kinetic.speed',
    kind: 'quantity',
    unit: 'km/h',
    resolution: 0.01,
    sources: [
      {
        bus: 'body',
        message: 'MOTION',
        signal: 'Speed',
        id: 168,
        extended: false,
        every: 20,
        sender: 'ESP',
        bits: { start: 7, length: 16, byteOrder: 'big', factor: 0.01, offset: 0 },
        scale: 1,
        shift: 0,
        staleAfter: 5000,
      },
    ],
  });
  expect(values.find(({ path }) => path === 'service.type')).toMatchObject({ constant: true, sources: [] });
});

test.each(['car', 'agent', 'commands', 'outbox'])('/vigie/v1/%s refuses any parameter', async (name) => {
  const rig = await startRig({ own: { view: viewOf().view, snapshots: new Snapshots(new VirtualClock()) } });
  const { status, text } = await rig.get(`/vigie/v1/${name}?limit=1`);
  expect(status).toBe(400);
  expect(text).toContain('limit: there is no such parameter: remove it');
});

test('the agent stream contains the link state at once and after each change', async () => {
  const clock = new VirtualClock();
  const { view, agent } = viewOf();
  const snapshots = new Snapshots(clock);
  const rig = await startRig({ own: { view, snapshots } });
  const { body, headers } = await request(`${rig.url}/vigie/v1/agent`);
  expect(headers['content-type']).toBe('text/event-stream');
  const chunks = body[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await chunks.next()).value);
  expect(await next()).toBe('retry: 3000\n\nevent: link\ndata: {"state":"up","waiting":0}\n\n');
  clock.advance(5_000);
  agent.waiting = 3;
  clock.advance(250);
  expect(await next()).toBe('event: link\ndata: {"state":"up","waiting":3}\n\n');
  clock.advance(15_000);
  expect(await next()).toBe(': still here\n\n');
  snapshots.close();
  expect((await chunks.next()).done).toBe(true);
  expect(snapshots.streams).toBe(0);
});

test('the number of agent streams is limited, and a disconnected reader frees one', async () => {
  const snapshots = new Snapshots(new VirtualClock(), { streams: 1 });
  const rig = await startRig({ own: { view: viewOf().view, snapshots } });
  const first = await request(`${rig.url}/vigie/v1/agent`);
  expect((await rig.get('/vigie/v1/agent')).status).toBe(429);
  const stream = snapshots;
  first.body.destroy();
  first.body.on('error', () => undefined);
  await expect.poll(() => stream.streams).toBe(0);
  expect((await rig.send('HEAD', '/vigie/v1/agent')).status).toBe(405);
});

test("a user without access to the car's state gets neither stream nor commands, and a stream ends with its token", async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = keysOfSet(JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }), 'keys');
  const clock = new SystemClock();
  const options = { issuer: 'https://issuer.example', audience: 'vigie', keys, timeKnown: () => true };
  const snapshots = new Snapshots(clock);
  onTestFinished(() => snapshots.close());
  const rig = await startRig({
    gates: { user: new UserGate(options, clock) },
    own: { view: viewOf().view, snapshots },
  });
  const token = (scope: string): Promise<string> =>
    new SignJWT({ scope })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer('https://issuer.example')
      .setAudience('vigie')
      .setSubject('somebody')
      .setExpirationTime('1h')
      .sign(privateKey);
  for (const path of ['/vigie/v1/car', '/vigie/v1/agent']) {
    const refused = await rig.get(path);
    expect([path, refused.status, refused.headers['www-authenticate']]).toEqual([
      path,
      401,
      expect.stringMatching(/^Bearer/),
    ]);
    const authorization = `Bearer ${await token('data:trip')}`;
    expect([path, (await rig.get(path, { authorization })).status]).toEqual([path, 403]);
  }
  const authorization = `Bearer ${await token('data:telemetry')}`;
  expect((await rig.get('/vigie/v1/car', { authorization })).status).toBe(200);
});

test('the car lists the commands that it can carry out, with their needs and confirmations', () => {
  const { view } = viewOf();
  const { kinds } = view.commands.report(() => true);
  const doors = kinds.find(({ type }) => type === 'Doors');
  expect(doors?.orders.map(({ name, interlocks }) => [name, interlocks])).toEqual([
    ['lock', []],
    [
      'unlock',
      [
        {
          demand: 'the car must be stationary',
          shown: 'kinetic.speed is unknown; the limit is 6 km/h',
          holds: false,
        },
      ],
    ],
  ]);
  expect(doors?.orders[0]).toMatchObject({
    body: { state: 'Locked' },
    confirmedBy: 'doorsState.lockedStates',
    already: false,
  });
  // For a user without the scope of a kind, `needs` names it.
  expect(view.commands.report(() => false).kinds.find(({ type }) => type === 'Doors')?.needs).toBe('remote:door:write');
});

test('the history contains every state of all commands, the newest command first', () => {
  const { view, agent } = viewOf();
  const report = { remoteActionId: 'a', type: 'Doors' } as const;
  agent.requests.reported({ ...report, status: 'Accepted' });
  agent.requests.reported({ ...report, remoteActionId: 'b', status: 'Accepted' });
  agent.requests.reported({ ...report, status: 'Failed', failureCause: 'VehicleInUse', detail: 'refused' });
  const at = expect.any(Number);
  expect(view.commands.history()).toEqual([
    { remoteActionId: 'b', type: 'Doors', states: [{ status: 'Accepted', at }] },
    {
      remoteActionId: 'a',
      type: 'Doors',
      states: [
        { status: 'Accepted', at },
        { status: 'Failed', at, failureCause: 'VehicleInUse', detail: 'refused' },
      ],
    },
  ]);
});

test('the outbox report counts made, acknowledged, waiting and missing messages of each class', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-outbox-'));
  const { outbox: store, close } = await openStore(folder, { log: new MemoryLog() });
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
  const put = (seq: number): void =>
    store.append({ class: 0, seq, kind: 'event', at: 0, retain: false, payload: new Uint8Array(10) });
  for (const seq of [0, 1, 2, 3]) put(seq);
  store.acknowledge(0, 0);
  store.giveUp(0, 2);
  const [results, emergencies] = reportOutbox(store).classes;
  expect(results).toMatchObject({ made: 4, acknowledged: 1, waiting: 2, bytes: 20, missing: 1 });
  expect(emergencies).toMatchObject({ made: 0, acknowledged: 0, waiting: 0, bytes: 0, missing: 0 });
});

test('only a bench allows unplugging its broker and its car, and reports whether they are plugged in', async () => {
  const { view } = viewOf();
  const snapshots = new Snapshots(new SystemClock());
  const car = await startRig({ own: { view, snapshots } });
  expect((await car.send('POST', '/vigie/v1/bench', { broker: false })).status).toBe(404);
  const plugged = { broker: true, car: true };
  const bench = {
    report: () => ({ ...plugged }),
    plug: async (plug: keyof typeof plugged, wanted: boolean) => {
      plugged[plug] = wanted;
    },
  };
  const rig = await startRig({ own: { view: { ...view, bench }, snapshots: new Snapshots(new SystemClock()) } });
  expect(await rig.send('POST', '/vigie/v1/bench', { broker: false })).toMatchObject({
    status: 200,
    json: { broker: false, car: true },
  });
  expect(await rig.send('POST', '/vigie/v1/bench', { car: false })).toMatchObject({
    status: 200,
    json: { broker: false, car: false },
  });
  expect((await rig.send('POST', '/vigie/v1/bench', { broker: 'no' })).status).toBe(400);
  expect((await rig.send('POST', '/vigie/v1/bench', { wheel: false })).status).toBe(400);
  const asked = await rig.send('POST', '/vigie/v1/bench?after=5s', { broker: true });
  expect([asked.status, JSON.stringify(asked.json)]).toEqual([400, expect.stringContaining('after: there is no such')]);
  expect(plugged).toEqual({ broker: false, car: false });
});

test('only a bench plays scenes, and an unknown scene is refused', async () => {
  const { view } = viewOf();
  const played: string[] = [];
  const bench = {
    report: () => ({ scenes: ['drive', 'park'], ...(played.length === 0 ? {} : { scene: played.at(-1) ?? '' }) }),
    plug: async () => undefined,
    play: (scene: string) => {
      played.push(scene);
    },
  };
  const rig = await startRig({ own: { view: { ...view, bench }, snapshots: new Snapshots(new SystemClock()) } });
  expect(await rig.send('POST', '/vigie/v1/bench', { scene: 'park' })).toMatchObject({
    status: 200,
    json: { scenes: ['drive', 'park'], scene: 'park' },
  });
  const refused = await rig.send('POST', '/vigie/v1/bench', { scene: 'fly' });
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.json)).toContain('scene: must be one of drive, park');
  expect(played).toEqual(['park']);
});
