/** Monitors and callbacks of fleets and users at a hub on any database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { idOf } from '../../assembly/view.ts';
import { issueAccess } from '../../hub/start/access.ts';
import { digestOf } from '../../hub/start/clients.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { openRegistry } from '../../hub/start/registry.ts';
import { type Operation, type RequestName, type Side, sides } from '../../protocol/interface/operation.ts';
import { scopeNames } from '../../protocol/interface/operations/scopes.ts';
import { operations } from '../../protocol/interface/operations.ts';
import { upTopic } from '../../protocol/topics.ts';
import { hubTokenKeys } from '../hub/hub-tokens.ts';
import { payloadOf, trip } from '../hub/messages.ts';
import type { Answered } from '../rig/interface.ts';
import { addressOf, rightBodies } from '../rig/interface-bodies.ts';
import { InterfaceDocument } from '../rig/interface-document.ts';
import { MemoryLog } from '../rig/log.ts';
import { MqttClient } from '../rig/mqtt-client.ts';

const [FIRST, SECOND, FOREIGN] = ['VF3VGEHVBM0000001', 'VF3VGEHVBM0000002', 'VF3VGEHVBM0000003'] as const;
/** A port without a listener (RFC 863). The hub may send requests there. */
const callbacks: NonNullable<HubOptions['callbacks']> = { networks: ['127.0.0.1'], allowHttp: true };

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

interface Asked extends Answered {
  readonly body: Json;
}

/** `database` returns the options that choose the database. */
export function hubMonitorsContract(name: string, database: () => Promise<Pick<HubOptions, 'database'>>): void {
  describe(`monitors and callbacks of a hub on ${name}`, () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-hub-monitors-'));
    const log = new MemoryLog();
    const document = new InterfaceDocument();
    const tokens = new Map<string, string>();
    const ids = { fid: 'north', vid: idOf(FIRST), id: idOf(FIRST) };
    let chosen: Pick<HubOptions, 'database'>;
    let hub: Hub;

    const start = async (): Promise<void> => {
      hub = await startHub({ data, ...chosen, callbacks, port: 0, http: 0, clock: new SystemClock(), log });
    };
    const tokenOf = async (who: string, grant: { fleets?: readonly string[]; scopes?: readonly string[] }) => {
      const issued = Date.now();
      const all = {
        name: who,
        scopes: [...scopeNames, 'hub:monitor:write'],
        issued,
        expires: issued + 600_000,
        ...grant,
      };
      const { registry, close } = await openRegistry({ data, ...chosen }, log);
      const token = await issueAccess(await hubTokenKeys({ data, ...chosen }), registry, all);
      await close();
      return token;
    };

    beforeAll(async () => {
      chosen = await database();
      const { registry, close } = await openRegistry({ data, ...chosen }, log);
      const north = { kind: 'fleet', id: 'north' } as const;
      await registry.add(FIRST, [north, { kind: 'user', id: 'ada' }], Date.now());
      await registry.add(SECOND, [north], Date.now());
      await registry.add(FOREIGN, [{ kind: 'fleet', id: 'south' }], Date.now());
      for (const vin of [FIRST, SECOND, FOREIGN]) await registry.setPassword(vin, digestOf(vin));
      await close();
      await start();
      for (const vin of [FIRST, SECOND, FOREIGN]) {
        const car = await MqttClient.connect(hub.broker, { clientId: vin, username: vin, password: vin });
        await car.publish(upTopic(vin, 'trip'), payloadOf('trip', trip('aa'), { vin }));
        await car.end();
      }
      tokens.set('fleet', await tokenOf('ops', { fleets: ['north'] }));
      tokens.set('south', await tokenOf('other ops', { fleets: ['south'] }));
      tokens.set('user', await tokenOf('ada', {}));
      tokens.set('bob', await tokenOf('bob', {}));
    });

    afterAll(async () => {
      await hub.stop();
      rmSync(data, { recursive: true, force: true });
    });

    async function ask(who: string, method: string, path: string, body?: object, headers = {}): Promise<Asked> {
      const response = await fetch(path.startsWith('http') ? path : `${hub.interface.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${tokens.get(who) ?? who}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const json: Json = text === '' ? undefined : JSON.parse(text);
      return { status: response.status, headers: Object.fromEntries(response.headers), text, json, body: json };
    }

    /** Requests an operation and checks the answer against the published interface. */
    async function call(id: string, more: object, body?: object, who?: string): Promise<Asked> {
      const operation = operations.find((one) => one.id === id) as Operation;
      const given = operation.bodyName === undefined ? undefined : (body ?? rightBodies[operation.bodyName]);
      const answer = await ask(
        who ?? operation.side,
        operation.method,
        addressOf(operation, { ...ids, ...more }),
        given,
      );
      expect(document.faultsOf(operation, answer)).toEqual([]);
      return answer;
    }

    const member = (side: Side, kind: string): RequestName => `${side}${kind}` as RequestName;

    for (const side of sides) {
      test(`every operation on callbacks and monitors of the ${side} side answers as published`, async () => {
        const callback = (await call(`${side}.callbacks.create`, {})).body;
        const cbid = callback.callbackId;
        expect(callback).toMatchObject({ status: 'Running' });
        const { label } = rightBodies[member(side, 'Callback')] as Json;
        expect((await call(`${side}.callbacks.get`, { cbid })).body.subscribe).toMatchObject({ label });
        expect((await call(`${side}.callbacks.list`, {})).body._embedded.callbacks).toMatchObject([{ id: cbid }]);
        const made = await call(`${side}.monitors.create`, { cbid });
        expect(made).toMatchObject({ status: 202, body: { status: 'Running' } });
        const mid = made.body.monitorId;
        const at = { cbid, mid };
        const shown = await call(`${side}.monitors.get`, at);
        expect(shown.body).toMatchObject({ monitorId: mid, status: 'Running', monitor: { label: 'cold' } });
        const listed = async (): Promise<Json[]> =>
          (await call(`${side}.monitors.list`, at)).body._embedded.monitors.map((one: Json) => one.monitorId);
        expect(await listed()).toEqual([mid]);
        const changed = { ...rightBodies[member(side, 'Monitor')], label: 'colder' };
        expect((await call(`${side}.monitors.replace`, at, changed)).status).toBe(202);
        expect((await call(`${side}.monitors.setStatus`, at)).body.status).toBe('Paused');
        expect((await call(`${side}.callbacks.setStatus`, at)).body.status).toBe('Paused');
        expect((await call(`${side}.callbacks.replace`, at)).status).toBe(202);
        await hub.stop();
        await start();
        expect((await call(`${side}.monitors.get`, at)).body).toMatchObject({
          status: 'Paused',
          monitor: { label: 'colder' },
        });
        expect((await call(`${side}.callbacks.get`, at)).body.status).toBe('Paused');
        expect((await call(`${side}.monitors.remove`, at)).status).toBe(204);
        expect((await call(`${side}.monitors.remove`, at)).status).toBe(404);
        expect((await call(`${side}.monitors.get`, at)).status).toBe(404);
        expect(await listed()).toEqual([]);
        const below = (await call(`${side}.monitors.create`, at)).body.monitorId;
        expect((await call(`${side}.callbacks.remove`, at)).status).toBe(204);
        expect((await call(`${side}.callbacks.get`, at)).status).toBe(404);
        // User monitors belong to the callback. Fleet monitors have their own webhooks.
        const left = await call(`${side}.monitors.get`, { cbid, mid: below });
        expect(left.status).toBe(side === 'user' ? 404 : 200);
        if (side === 'fleet') await call('fleet.monitors.remove', { mid: below });
      });
    }

    test('nobody sees, changes or removes monitors and callbacks of another fleet or user', async () => {
      const own = { cbid: (await call('user.callbacks.create', {})).body.callbackId };
      const mid = (await call('user.monitors.create', own)).body.monitorId;
      const fleetMonitor = (await call('fleet.monitors.create', {})).body.monitorId;
      for (const [id, at, who] of [
        ['user.callbacks.get', own, 'bob'],
        ['user.callbacks.remove', own, 'bob'],
        ['user.monitors.get', { ...own, mid }, 'bob'],
        ['fleet.monitors.get', { fid: 'south', mid: fleetMonitor }, 'south'],
        ['fleet.monitors.remove', { fid: 'south', mid: fleetMonitor }, 'south'],
        ['fleet.monitors.get', { mid }, 'fleet'],
      ] as const) {
        expect([id, who, (await call(id, at, undefined, who)).status]).toEqual([id, who, 404]);
      }
      expect((await call('fleet.monitors.get', { mid: fleetMonitor }, undefined, 'south')).status).toBe(403);
      expect((await call('fleet.monitors.get', { mid: fleetMonitor })).status).toBe(200);
      await call('user.callbacks.remove', own);
      await call('fleet.monitors.remove', { mid: fleetMonitor });
    });

    test('a fleet monitor applies to one car if its body or header names a car of the fleet', async () => {
      const body = { ...rightBodies.fleetMonitor, vid: idOf(SECOND) };
      const made = await call('fleet.monitors.create', {}, body);
      expect(made.status).toBe(202);
      const foreign = await call('fleet.monitors.create', {}, { ...body, vid: idOf(FOREIGN) });
      expect([foreign.status, foreign.body.message]).toEqual([400, expect.stringContaining('vehicle of the fleet')]);
      const path = addressOf(operations.find(({ id }) => id === 'fleet.monitors.create') as Operation, ids);
      expect((await ask('fleet', 'POST', path, body, { vid: idOf(FIRST) })).status).toBe(400);
      const named = await ask('fleet', 'POST', path, rightBodies.fleetMonitor, { vid: idOf(FIRST) });
      expect(named.status).toBe(202);
      for (const { monitorId: mid } of [made.body, named.body]) await call('fleet.monitors.remove', { mid });
    });

    test('an invalid monitor or callback is refused with the name of the faulty member', async () => {
      const wrong = { ...rightBodies.fleetMonitor, triggerParam: { triggers: [], boolExp: 'a' } };
      expect((await call('fleet.monitors.create', {}, wrong)).status).toBe(400);
      const target = { label: 'mine', callback: { webhook: { target: 'https://192.168.1.1/', name: 'n' } } };
      const refused = await call('user.callbacks.create', {}, target);
      expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('192.168.1.1')]);
    });

    test('a user needs the scopes of the monitored data, and can have at most five monitors per vehicle', async () => {
      const cbid = (await call('user.callbacks.create', {})).body.callbackId;
      const few = await tokenOf('ada', { scopes: ['data:trip'] });
      expect((await call('user.monitors.create', { cbid }, undefined, few)).status).toBe(403);
      for (let count = 0; count < 5; count++) {
        expect((await call('user.monitors.create', { cbid })).status).toBe(202);
      }
      const sixth = await call('user.monitors.create', { cbid });
      expect([sixth.status, sixth.body.message]).toEqual([400, expect.stringContaining('at most 5 monitors')]);
      await call('user.callbacks.remove', { cbid });
    });

    test('a request repeated with its Idempotency-Key creates one monitor, even after a restart', async () => {
      const path = addressOf(operations.find(({ id }) => id === 'fleet.monitors.create') as Operation, ids);
      const headers = { 'Idempotency-Key': '"6f9619ff-8b86-4011-b42d-00c04fc964ff"' };
      const first = await ask('fleet', 'POST', path, rightBodies.fleetMonitor, headers);
      await hub.stop();
      await start();
      const second = await ask('fleet', 'POST', path, rightBodies.fleetMonitor, headers);
      expect(second.body.monitorId).toBe(first.body.monitorId);
      expect((await call('fleet.monitors.list', {})).body.total).toBe(1);
      await call('fleet.monitors.remove', { mid: first.body.monitorId });
    });
  });
}
