/** Creating, changing and deleting monitors, callbacks and remotes. */

import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryRecords } from '../../../../adapters/store/index.ts';
import { Status } from '../../../../agent/model/status.ts';
import { MonitorDesk } from '../../../../agent/monitors/desk.ts';
import { Monitors } from '../../../../agent/monitors/monitors.ts';
import type { Publisher } from '../../../../agent/ports.ts';
import type { RemoteAction } from '../../../../agent/remotes/requests.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { MemoryLog } from '../../../rig/log.ts';
import { Reference } from './reference.ts';
import { Asker, Callbacks, carOf, entriesOf, type Json, NOW, Remotes } from './rig.ts';

const FLEET = '/fleets/f1/vehicles/bench%20car%2F1';
const USER = '/user/vehicles/bench%20car%2F1';

const triggerParam = {
  triggers: [{ name: 'cold1', data: { data: 'environment.air.temp', op: 'lowerThan', value: ['3'] } }],
  boolExp: 'cold1',
};
const webhook = {
  target: 'https://receiver.example/',
  name: 'n',
  attributes: [{ type: 'Query', key: 'k', value: '$vin' }],
};
const monitor = {
  label: 'cold',
  subscribeParam: { refreshEvent: 120, retryPolicy: { policy: 'Always' }, callback: { webhook } },
  extendedEventParam: ['vehicle.status'],
  triggerParam,
};
const fleetCallback = {
  label: 'outcomes',
  retryPolicy: { policy: 'Bounded', retryNumber: 3, retryDelay: 10 },
  callback: { webhook: { target: 'https://receiver.example/', name: 'n' } },
  remoteTypes: ['Horn', 'Doors'],
};
const userCallback = {
  label: 'mine',
  type: ['Monitor', 'Remote'],
  callback: { webhook: { target: 'https://receiver.example/', name: 'n' } },
};

let asker: Asker;
let remotes: Remotes;
let callbacks: Callbacks;
let monitors: MonitorDesk;

beforeEach(() => {
  const status = new Status();
  const log = new MemoryLog();
  const publisher: Publisher = { put: () => undefined, secure: async () => undefined };
  monitors = new MonitorDesk(
    new Monitors({ status, trips: { present: () => undefined }, emit: () => undefined, log }),
    {
      publisher,
      clock: new VirtualClock(NOW),
      log,
    },
  );
  remotes = new Remotes();
  callbacks = new Callbacks();
  asker = new Asker(carOf({ status, records: new MemoryRecords(), monitors, callbacks, remotes }));
});

async function made(path: string, body: unknown): Promise<string> {
  const { body: answer } = await asker.ask('POST', path, { body });
  return answer.callbackId ?? answer.monitorId ?? answer.remoteActionId;
}

async function listed(path: string, name: string): Promise<Json[]> {
  return [...entriesOf((await asker.get(path)).body, name)];
}

describe('monitors of a fleet', () => {
  test('are created, read unchanged, paused, replaced and deleted', async () => {
    const { status, body } = await asker.ask('POST', '/fleets/f1/monitors', { body: monitor });
    expect(status).toBe(202);
    expect(body).toMatchObject({ status: 'Running', createdAt: new Date(NOW).toISOString() });
    const { href } = body._links.monitor;
    expect((await asker.get(href)).body).toMatchObject({ monitorId: body.monitorId, monitor, status: 'Running' });
    const paused = await asker.ask('PUT', `${href}/status`, { body: { status: 'Paused' } });
    expect([paused.status, paused.body.status]).toEqual([202, 'Paused']);
    const replaced = await asker.ask('PUT', href, { body: { ...monitor, label: 'colder' } });
    expect([replaced.status, replaced.body.monitorId]).toEqual([202, body.monitorId]);
    expect((await asker.get(href)).body).toMatchObject({ monitor: { label: 'colder' }, status: 'Paused' });
    expect((await asker.ask('DELETE', href)).status).toBe(204);
    await expect(asker.ask('DELETE', href)).rejects.toMatchObject({ code: 'request.unknown' });
    expect(await listed('/fleets/f1/monitors', 'monitors')).toEqual([]);
  });

  test('may name their car in a header or in the body, and it must be in the fleet', async () => {
    await made('/fleets/f1/monitors', { ...monitor, vid: 'bench car/1' });
    expect((await listed('/fleets/f1/monitors', 'monitors'))[0]?.monitor).toEqual(monitor);
    await asker.ask('POST', '/fleets/f1/monitors', { body: monitor, headers: { vid: 'bench car/1' } });
    for (const asking of [{ body: { ...monitor, vid: 'other' } }, { body: monitor, headers: { vid: 'other' } }]) {
      await expect(asker.ask('POST', '/fleets/f1/monitors', asking)).rejects.toMatchObject({ code: 'input.unknown' });
    }
    expect(await listed('/fleets/f1/monitors', 'monitors')).toHaveLength(2);
  });

  test('are visible only in their own fleet', async () => {
    const id = await made('/fleets/f1/monitors', monitor);
    expect(await listed('/fleets/f2/monitors', 'monitors')).toEqual([]);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', monitor],
      ['PUT', '/status', { status: 'Paused' }],
      ['DELETE', '', undefined],
    ] as const) {
      const address = `/fleets/f2/monitors/${id}${path}`;
      await expect(asker.ask(method, address, { body }), method).rejects.toMatchObject({ code: 'request.unknown' });
    }
    expect(await listed('/fleets/f1/monitors', 'monitors')).toHaveLength(1);
  });

  test('with a fault are refused with the name of the member, and not created', async () => {
    const wrong = { ...monitor, triggerParam: { ...triggerParam, boolExp: 'cold1 & other' } };
    await expect(asker.ask('POST', '/fleets/f1/monitors', { body: wrong })).rejects.toMatchObject({
      where: expect.stringContaining('triggerParam.boolExp'),
    });
    expect(await listed('/fleets/f1/monitors', 'monitors')).toEqual([]);
  });
});

describe('monitors of a user', () => {
  test('belong to the callback under which they are created', async () => {
    const [one, other] = [await made('/user/callbacks', userCallback), await made('/user/callbacks', userCallback)];
    const { subscribeParam: _, ...own } = monitor;
    const attributes = [{ type: 'Header', key: 'a', value: 'b' }];
    const id = await made(`${USER}/callbacks/${one}/monitors`, {
      ...own,
      attributes,
      subscribeParam: { refreshEvent: 60, callbackId: other },
    });
    const [found] = await listed(`${USER}/callbacks/${one}/monitors`, 'monitors');
    expect(found).toMatchObject({ monitorId: id, monitor: { attributes, subscribeParam: { refreshEvent: 60 } } });
    expect(found?.monitor.subscribeParam).not.toHaveProperty('callbackId');
    expect(await listed(`${USER}/callbacks/${other}/monitors`, 'monitors')).toEqual([]);
    expect(await listed('/fleets/f1/monitors', 'monitors')).toEqual([]);
    await expect(asker.get(`${USER}/callbacks/${other}/monitors/${id}`)).rejects.toMatchObject({
      code: 'request.unknown',
    });
    await expect(asker.get(`${USER}/callbacks/0-0/monitors`)).rejects.toMatchObject({ code: 'request.unknown' });
  });
});

describe('monitors of a user with some scopes', () => {
  const level = { data: 'vehicle.kinetic.speed', op: 'greaterThan', value: ['50'] };
  const zone = { transition: 'In', place: { center: { longitude: 2, latitude: 48 }, radius: 1 } };
  const alert = { data: 'vehicle.alert', op: 'onChange', value: [] };
  const monitorOf = (trigger: object, ...extensions: string[]) => ({
    label: 'l',
    triggerParam: { triggers: [{ name: 'a', ...trigger }], boolExp: 'a' },
    ...(extensions.length === 0 ? {} : { extendedEventParam: extensions }),
  });
  const fast = monitorOf({ data: level });
  const caller = { name: 'ada', scopes: new Set(['data:telemetry']) };
  let path: string;

  beforeEach(async () => {
    const { body } = await asker.ask('POST', '/user/callbacks', { body: userCallback, caller });
    path = `${USER}/callbacks/${body.callbackId}/monitors`;
  });

  test.each([
    ['where the car is', monitorOf({ data: level }, 'vehicle.position'), 'data:position'],
    ['whether it is near', monitorOf({ zone }), 'data:position'],
    ['warnings', monitorOf({ data: alert }), 'data:alert'],
    ['trips', monitorOf({ data: level }, 'vehicle.trip'), 'data:trip'],
  ])('cannot report %s without its scope', async (_, wrong, scope) => {
    const refused = { code: 'request.forbidden', message: expect.stringContaining(scope) };
    await expect(asker.ask('POST', path, { body: wrong, caller })).rejects.toMatchObject(refused);
    expect(monitors.all).toEqual([]);
    const { body } = await asker.ask('POST', path, { body: fast, caller });
    const own = `${path}/${body.monitorId}`;
    await expect(asker.ask('PUT', own, { body: wrong, caller })).rejects.toMatchObject(refused);
    expect((await asker.get(own, { caller })).body.monitor).toMatchObject({ label: 'l' });
    expect(monitors.all[0]?.monitor).not.toHaveProperty('extendedEventParam');
    const all = { name: 'ada', scopes: new Set(['data:telemetry', scope, 'data:position']) };
    expect((await asker.ask('PUT', own, { body: wrong, caller: all })).status).toBe(202);
  });
});

describe("delivery, the stored form of a monitor's notification settings", () => {
  test('is ignored in a request', async () => {
    const [mine, yours] = [await made('/user/callbacks', userCallback), await made('/user/callbacks', userCallback)];
    const { subscribeParam: _, ...own } = monitor;
    const delivery = JSON.stringify({ subscribeParam: { callbackId: yours } });
    await made(`${USER}/callbacks/${mine}/monitors`, { ...own, delivery });
    expect(await listed(`${USER}/callbacks/${mine}/monitors`, 'monitors')).toHaveLength(1);
    expect(await listed(`${USER}/callbacks/${yours}/monitors`, 'monitors')).toEqual([]);
  });

  test.each(['{', 'null', '7'])('does not break a list if a command has set it to %s', async (delivery) => {
    await monitors.put('by-command', { label: 'l', triggerParam, delivery });
    await made('/fleets/f1/monitors', monitor);
    expect(await listed('/fleets/f1/monitors', 'monitors')).toHaveLength(1);
  });
});

describe('callbacks', () => {
  test('are created, read, paused, replaced and deleted with the published statuses', async () => {
    for (const [path, body] of [
      ['/fleets/f1/remote/callbacks', fleetCallback],
      ['/user/callbacks', userCallback],
    ] as const) {
      const created = await asker.ask('POST', path, { body });
      expect([created.status, created.body.status]).toEqual([200, 'Running']);
      const { href } = created.body._links.callback;
      expect((await asker.get(href)).body).toMatchObject({
        id: created.body.callbackId,
        subscribe: body,
        status: 'Running',
      });
      const paused = await asker.ask('PUT', `${href}/status`, { body: { status: 'Paused' } });
      expect([paused.status, paused.body.status]).toEqual([202, 'Paused']);
      const replaced = await asker.ask('PUT', href, { body: { ...body, label: 'renamed' } });
      expect([replaced.status, replaced.body.callbackId]).toEqual([202, created.body.callbackId]);
      expect((await asker.get(href)).body.subscribe.label).toBe('renamed');
      expect((await asker.ask('DELETE', href)).status).toBe(204);
      await expect(asker.get(href)).rejects.toMatchObject({ code: 'request.unknown' });
    }
  });

  test('are visible only to their caller and on their side', async () => {
    const fleet = await made('/fleets/f1/remote/callbacks', fleetCallback);
    const { body } = await asker.ask('POST', '/user/callbacks', { body: userCallback, caller: { name: 'ada' } });
    for (const address of [
      `/fleets/f2/remote/callbacks/${fleet}`,
      `/user/callbacks/${fleet}`,
      `/user/callbacks/${body.callbackId}`,
    ]) {
      await expect(asker.get(address), address).rejects.toMatchObject({ code: 'request.unknown' });
    }
    expect(await listed('/user/callbacks', 'callbacks')).toEqual([]);
    expect((await asker.get('/user/callbacks', { caller: { name: 'ada' } })).body.total).toBe(1);
  });

  test('can be selected by their types', async () => {
    await made('/fleets/f1/remote/callbacks', fleetCallback);
    expect(await listed('/fleets/f1/remote/callbacks?types=Lights,Horn', 'callbacks')).toHaveLength(1);
    expect(await listed('/fleets/f1/remote/callbacks?types=Lights', 'callbacks')).toEqual([]);
    await made('/user/callbacks', { ...userCallback, type: ['Monitor'] });
    const { type: _, ...both } = userCallback;
    await made('/user/callbacks', both);
    expect(await listed('/user/callbacks?types=Remote', 'callbacks')).toHaveLength(1);
    expect(await listed('/user/callbacks?types=Monitor', 'callbacks')).toHaveLength(2);
  });

  test('do not show their secrets', async () => {
    const secret = 'a secret of many characters';
    await made('/user/callbacks', {
      callback: { webhook: { target: 'https://receiver.example/', name: 'n', secret } },
    });
    expect(JSON.stringify(await listed('/user/callbacks', 'callbacks'))).not.toContain(secret);
  });
});

describe('remotes', () => {
  test('are submitted to the signer, and show their result', async () => {
    const cbid = await made('/fleets/f1/remote/callbacks', fleetCallback);
    const path = `${FLEET}/callbacks/${cbid}/remotes`;
    const { status, body } = await asker.ask('POST', path, { body: { label: 'shut', door: { state: 'Locked' } } });
    expect([status, body.type]).toEqual([202, 'Doors']);
    expect(remotes.actions).toMatchObject([
      { callbackId: cbid, type: 'Doors', remote: { label: 'shut', door: { state: 'Locked' } } },
    ]);
    remotes.actions[0] = { ...(remotes.actions[0] as RemoteAction), status: 'Failed', failureCause: 'DoorsOpen' };
    expect((await asker.get(body._links.remote.href)).body).toMatchObject({
      remoteActionId: body.remoteActionId,
      type: 'Doors',
      remote: { door: { state: 'Locked' } },
      status: 'Failed',
      failureCause: 'DoorsOpen',
    });
    const other = await made('/fleets/f1/remote/callbacks', fleetCallback);
    expect(await listed(`${FLEET}/callbacks/${other}/remotes`, 'remoteActions')).toEqual([]);
    await expect(asker.get(`${FLEET}/callbacks/${other}/remotes/${body.remoteActionId}`)).rejects.toMatchObject({
      code: 'request.unknown',
    });
  });

  test.each([
    [{}],
    [{ label: 'nothing' }],
    [{ horn: { state: 'Activated' }, lights: { on: true } }],
    [{ charging: { schedule: { programs: [{ start: 'PT25H' }] } } }],
    [{ stolen: { stolen: true, immobilization: { activate: true } } }],
    [{ label: 'x'.repeat(257), horn: { state: 'Activated' } }],
    [{ label: '\ud800', horn: { state: 'Activated' } }],
  ])('%j is refused and not submitted', async (body) => {
    const cbid = await made('/fleets/f1/remote/callbacks', fleetCallback);
    await expect(asker.ask('POST', `${FLEET}/callbacks/${cbid}/remotes`, { body })).rejects.toMatchObject({
      code: 'input.malformed',
    });
    expect(remotes.actions).toEqual([]);
  });

  test('are stored without unknown members, so that those take no memory', async () => {
    const { callbackId: fleet } = (await asker.ask('POST', '/fleets/f1/remote/callbacks', { body: fleetCallback }))
      .body;
    const junk = 'x'.repeat(1_000);
    await asker.ask('POST', `${FLEET}/callbacks/${fleet}/remotes`, {
      body: { label: 'shut', door: { state: 'Locked', junk }, junk: [{ junk }] },
    });
    const { callbackId: user } = (await asker.ask('POST', '/user/callbacks', { body: userCallback })).body;
    const attributes = [{ type: 'Header', key: 'a', value: 'b' }];
    await asker.ask('POST', `${USER}/callbacks/${user}/remotes`, {
      body: {
        wakeUp: { action: 'WakeUp', junk },
        attributes: [{ ...attributes[0], junk }],
        callbackAttributes: { webhook: attributes, junk },
      },
    });
    expect(remotes.actions.map(({ remote }) => remote)).toEqual([
      { label: 'shut', door: { state: 'Locked' } },
      { wakeUp: { action: 'WakeUp' }, attributes, callbackAttributes: { webhook: attributes } },
    ]);
  });

  test('of a user need the scope of their kind, and are visible only with it', async () => {
    const caller = { name: 'ada', scopes: new Set(['remote:horn:write', 'remote:lights:write']) };
    const { body } = await asker.ask('POST', '/user/callbacks', { body: userCallback, caller });
    const path = `${USER}/callbacks/${body.callbackId}/remotes`;
    const sent = await asker.ask('POST', path, { body: { horn: { state: 'Activated' } }, caller });
    expect(sent.status).toBe(202);
    await expect(asker.ask('POST', path, { body: { door: { state: 'Unlocked' } }, caller })).rejects.toMatchObject({
      code: 'request.forbidden',
    });
    await expect(
      asker.ask('POST', path, { body: { immobilization: { activate: true } }, caller }),
    ).rejects.toMatchObject({ code: 'input.malformed' });
    expect(remotes.actions).toHaveLength(1);
    const onlyLights = { name: 'ada', scopes: new Set(['remote:lights:write']) };
    expect((await asker.get(path, { caller })).body.total).toBe(1);
    expect((await asker.get(path, { caller: onlyLights })).body.total).toBe(0);
    await expect(asker.get(sent.body._links.remote.href, { caller: onlyLights })).rejects.toMatchObject({
      code: 'request.unknown',
    });
  });
});

describe('answers to writes', () => {
  test('are as published', async () => {
    const reference = { fleet: new Reference('fleet'), user: new Reference('user') };
    const check = async (method: string, address: string, body: unknown): Promise<Json> => {
      const reply = await asker.ask(method, address, { body });
      const { side, path } = reply.operation;
      expect(reference[side].faults(`${method} ${path}`, reply.body), `${method} ${path}`).toEqual([]);
      expect(Object.keys(reply.operation.answers)).toContain(String(reply.status));
      return reply.body;
    };
    const { subscribeParam: _, ...own } = monitor;
    for (const [callbackPath, callbackBody, monitorBody, vehicle] of [
      ['/fleets/f1/remote/callbacks', fleetCallback, monitor, FLEET],
      ['/user/callbacks', userCallback, own, USER],
    ] as const) {
      const { callbackId } = await check('POST', callbackPath, callbackBody);
      await check('PUT', `${callbackPath}/${callbackId}`, callbackBody);
      await check('PUT', `${callbackPath}/${callbackId}/status`, { status: 'Paused' });
      await check('POST', `${vehicle}/callbacks/${callbackId}/remotes`, { door: { state: 'Locked' } });
      const monitors = vehicle === FLEET ? '/fleets/f1/monitors' : `${USER}/callbacks/${callbackId}/monitors`;
      const { monitorId } = await check('POST', monitors, monitorBody);
      await check('PUT', `${monitors}/${monitorId}`, monitorBody);
      await check('PUT', `${monitors}/${monitorId}/status`, { status: 'Paused' });
    }
  });
});
