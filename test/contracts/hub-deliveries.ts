/** Delivery of monitor events and command states from cars through a hub, on any database, to real receivers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { idOf } from '../../assembly/view.ts';
import type { Owner, Registry } from '../../hub/core/registry.ts';
import { issueAccess } from '../../hub/start/access.ts';
import { digestOf } from '../../hub/start/clients.ts';
import { type HubDatabase, onPostgres, onSqlite } from '../../hub/start/database.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { openRegistry } from '../../hub/start/registry.ts';
import { bases } from '../../protocol/interface/operation.ts';
import { scopeNames } from '../../protocol/interface/operations/scopes.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import type { RemoteStatus } from '../../protocol/schema/remote.ts';
import { upTopic } from '../../protocol/topics.ts';
import { HttpReceiver, type Received } from '../adapters/callbacks/servers.ts';
import { hubTokenKeys } from '../hub/hub-tokens.ts';
import { NOON, payloadOf, received, trip } from '../hub/messages.ts';
import { MemoryLog } from '../rig/log.ts';
import { MqttClient } from '../rig/mqtt-client.ts';

const [FIRST, SECOND] = ['VF3VGEHVBD0000001', 'VF3VGEHVBD0000002'] as const;
const FLEET = `${bases.fleet}/fleets/north`;
const USER = `${bases.user}/user`;
const NORTH: Owner = { kind: 'fleet', id: 'north' };
const callbacks: NonNullable<HubOptions['callbacks']> = { networks: ['127.0.0.1'], allowHttp: true };
const triggerParam = {
  triggers: [{ name: 'cold', data: { data: 'environment.air.temp', op: 'lowerThan', value: ['3'] } }],
  boolExp: 'cold',
};

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

/** `database` returns the options that choose the database. All hubs get the same. */
export function hubDeliveriesContract(name: string, database: () => Promise<Pick<HubOptions, 'database'>>): void {
  describe(`events to receivers from a hub on ${name}`, () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-hub-deliveries-'));
    const log = new MemoryLog();
    const cars = new Map<string, { readonly client: MqttClient; seq: number }>();
    const tokens = new Map<string, string>();
    let chosen: Pick<HubOptions, 'database'>;
    let hub: Hub;
    let events = 0;

    const start = async (): Promise<void> => {
      hub = await startHub({ data, ...chosen, callbacks, port: 0, http: 0, clock: new SystemClock(), log });
    };
    const withRegistry = async (change: (registry: Registry) => Promise<unknown>): Promise<void> => {
      const { registry, close } = await openRegistry({ data, ...chosen }, log);
      await change(registry);
      await close();
    };

    beforeAll(async () => {
      chosen = await database();
      await withRegistry(async (registry) => {
        await registry.add(FIRST, [NORTH, { kind: 'user', id: 'ada' }], Date.now());
        await registry.add(SECOND, [NORTH], Date.now());
        for (const vin of [FIRST, SECOND]) await registry.setPassword(vin, digestOf(vin));
      });
      await start();
      const issued = Date.now();
      const grant = { scopes: [...scopeNames, 'hub:monitor:write'], issued, expires: issued + 600_000 };
      const keys = await hubTokenKeys({ data, ...chosen });
      await withRegistry(async (registry) => {
        tokens.set('fleet', await issueAccess(keys, registry, { ...grant, name: 'ops', fleets: ['north'] }));
        tokens.set('user', await issueAccess(keys, registry, { ...grant, name: 'ada' }));
      });
      for (const vin of [FIRST, SECOND]) await say(vin, 'trip', trip('aa'));
    });

    afterAll(async () => {
      await hub.stop();
      rmSync(data, { recursive: true, force: true });
    });

    /** Publishes a message as the car. Resolves when it is acknowledged. */
    async function say(vin: string, kind: 'trip' | 'event' | 'remote', body: object): Promise<void> {
      const car = cars.get(vin) ?? { client: await connect(vin), seq: 0 };
      cars.set(vin, car);
      const payload = payloadOf(kind, body as never, { vin, seq: car.seq++ });
      if ((await car.client.publish(upTopic(vin, kind), payload)) === 'acknowledged') return;
      // The hub has restarted.
      cars.set(vin, { client: await connect(vin), seq: car.seq });
      await cars.get(vin)?.client.publish(upTopic(vin, kind), payload);
    }

    function connect(vin: string): Promise<MqttClient> {
      return MqttClient.connect(hub.broker, { clientId: vin, username: vin, password: vin });
    }

    function eventOf(monitorId: string, more: Partial<MonitorEvent> = {}): MonitorEvent {
      const values = [{ data: 'environment.air.temp' as const, literal: '2' }];
      return { id: (++events).toString(16), monitorId, at: NOON, refresh: false, values, ...more };
    }

    async function ask(who: string, method: string, path: string, body?: object): Promise<Json> {
      const response = await asked(who, method, path, body);
      const text = await response.text();
      expect([path, response.status, text]).toEqual([path, expect.toSatisfy((status: number) => status < 300), text]);
      return text === '' ? undefined : JSON.parse(text);
    }

    function asked(who: string, method: string, path: string, body?: object, headers: object = {}): Promise<Response> {
      return fetch(`${hub.interface.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${tokens.get(who)}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    }

    /** Id of a fleet monitor whose events go to the address. */
    async function fleetMonitor(target: string, subscribeParam: object = {}): Promise<string> {
      const retryPolicy = { policy: 'Always', retryDelay: 1 };
      const subscribe = { refreshEvent: 120, retryPolicy, callback: { webhook: { target, name: 'n' } } };
      const body = { label: 'cold', subscribeParam: { ...subscribe, ...subscribeParam }, triggerParam };
      const made = await ask('fleet', 'POST', `${FLEET}/monitors`, body);
      return made.monitorId;
    }

    async function userMonitor(target: string): Promise<{ readonly callbackId: string; readonly monitorId: string }> {
      const body = { label: 'mine', type: ['Monitor'], callback: { webhook: { target, name: 'n' } } };
      const { callbackId } = await ask('user', 'POST', `${USER}/callbacks`, body);
      const made = await ask('user', 'POST', `${USER}/vehicles/${idOf(FIRST)}/callbacks/${callbackId}/monitors`, {
        label: 'cold',
        triggerParam,
      });
      return { callbackId, monitorId: made.monitorId };
    }

    async function receiver(): Promise<HttpReceiver> {
      const opened = await new HttpReceiver().open();
      onTestFinished(() => opened.close());
      return opened;
    }

    /** Opens the database in addition to the hub that uses it. */
    async function withDatabase<T>(work: (of: HubDatabase) => Promise<T>, limit = 5_000): Promise<T> {
      const { database: url } = chosen;
      const opened =
        url === undefined
          ? await onSqlite(join(data, 'hub.sqlite'), limit, new MemoryLog())
          : await onPostgres(url, { limit, clock: new SystemClock(), log });
      try {
        return await work(opened);
      } finally {
        await opened.close();
      }
    }

    const waiting = async () => (await withDatabase(({ deliveries }) => deliveries.totals())).waiting;

    const refuse: HttpReceiver['behaviour'] = (_, response) => response.writeHead(500).end();

    const idsIn = (all: readonly Received[]): string[] =>
      all.flatMap(({ headers }) => String(headers['vigie-event-id']).split(', '));

    /** Resolves when the receiver has got all of these events. */
    async function told(one: HttpReceiver, ids: readonly string[]): Promise<void> {
      for (let missing = ids; ; ) {
        const next = one.next();
        missing = ids.filter((id) => !idsIn(one.received).includes(id));
        if (missing.length === 0) return;
        await next;
      }
    }

    const idAt = (vin: string, { id }: MonitorEvent): string => `${idOf(vin)}-${id}`;

    test('an event of a car goes once to the monitor’s webhook in the published form', async () => {
      const one = await receiver();
      const monitorId = await fleetMonitor(one.url);
      const event = eventOf(monitorId);
      await say(FIRST, 'event', event);
      await told(one, [idAt(FIRST, event)]);
      expect(JSON.parse(one.received[0]?.body ?? '')).toEqual({
        monitorId,
        attributes: [],
        events: [
          {
            fleetId: 'north',
            vin: FIRST,
            eventDate: new Date(NOON).toISOString(),
            values: [{ data: 'environment.air.temp', value: { type: 'string', body: { literalValue: '2' } } }],
            refresh: false,
          },
        ],
      });
      // A repeated message is not a new event.
      const car = cars.get(FIRST);
      if (car !== undefined) car.seq--;
      await say(FIRST, 'event', event);
      const later = eventOf(monitorId);
      await say(SECOND, 'event', later);
      await told(one, [idAt(SECOND, later)]);
      expect(idsIn(one.received)).toEqual([idAt(FIRST, event), idAt(SECOND, later)]);
      await ask('fleet', 'DELETE', `${FLEET}/monitors/${monitorId}`);
    });

    test('events committed before a hub was killed are sent after its next start, including those it had claimed', async () => {
      const one = await receiver();
      const monitorId = await fleetMonitor(one.url);
      await hub.stop();
      const [claimed, kept] = [eventOf(monitorId), eventOf(monitorId)];
      const car = cars.get(FIRST);
      await withDatabase(async ({ store, deliveries }) => {
        for (const event of [claimed, kept]) {
          const message = received('event', event, {
            vin: FIRST,
            seq: car === undefined ? 0 : car.seq++,
            received: Date.now(),
          });
          await store.save([message], []);
          // A hub that is alone on its database knows that the killed one is dead. Otherwise the lease must end first.
          const lasts = chosen.database === undefined ? 3_600_000 : 0;
          const now = Date.now();
          if (event === claimed) await deliveries.claim({ now, lease: 'dead', lasts, proven: false, limit: 9 });
        }
      });
      await start();
      await told(one, [idAt(FIRST, claimed), idAt(FIRST, kept)]);
      expect(idsIn(one.received)).toEqual([idAt(FIRST, claimed), idAt(FIRST, kept)]);
      await ask('fleet', 'DELETE', `${FLEET}/monitors/${monitorId}`);
    });

    test('a request that a killed hub did not finish is repeated after its next start with the same id', async () => {
      const one = await receiver();
      const monitorId = await fleetMonitor(one.url);
      one.behaviour = () => undefined;
      const event = eventOf(monitorId);
      const asked = one.next();
      await say(FIRST, 'event', event);
      await asked;
      await hub.stop();
      one.behaviour = (_, response) => response.writeHead(204).end();
      await start();
      while (one.received.length < 2) await one.next();
      expect(idsIn(one.received)).toEqual([idAt(FIRST, event), idAt(FIRST, event)]);
      await ask('fleet', 'DELETE', `${FLEET}/monitors/${monitorId}`);
    });

    test('events wait for a paused callback of a user, and are removed with the callback', async () => {
      const one = await receiver();
      const { callbackId, monitorId } = await userMonitor(one.url);
      const path = `${USER}/callbacks/${callbackId}`;
      await ask('user', 'PUT', `${path}/status`, { status: 'Paused' });
      const events = [eventOf(monitorId), eventOf(monitorId)];
      for (const event of events) await say(FIRST, 'event', event);
      expect([await waiting(), one.received]).toEqual([2, []]);
      await ask('user', 'PUT', `${path}/status`, { status: 'Running' });
      await told(
        one,
        events.map((event) => idAt(FIRST, event)),
      );
      expect(JSON.parse(one.received[0]?.body ?? '')).toMatchObject([
        { callbackId, type: 'Monitor', monitorEvent: { monitorId } },
        { callbackId, type: 'Monitor', monitorEvent: { monitorId } },
      ]);
      one.behaviour = refuse;
      const asked = one.next();
      await say(FIRST, 'event', eventOf(monitorId));
      await asked;
      await ask('user', 'DELETE', path);
      expect(await waiting()).toBe(0);
    });

    /** Publishes states of a command as its car does. */
    async function report(vin: string, remoteActionId: string, ...statuses: RemoteStatus[]): Promise<void> {
      for (const status of statuses) await say(vin, 'remote', { remoteActionId, type: 'Doors', status });
    }

    const lock = { label: 'lock it', door: { state: 'Locked' } };

    test('command states reach their callback once and in order, even if the hub was killed', async () => {
      const one = await receiver();
      const body = { label: 'mine', type: ['Remote'], callback: { webhook: { target: one.url, name: 'n' } } };
      const { callbackId } = await ask('user', 'POST', `${USER}/callbacks`, body);
      const remotes = `${USER}/vehicles/${idOf(FIRST)}/callbacks/${callbackId}/remotes`;
      const { remoteActionId: id, type } = await ask('user', 'POST', remotes, lock);
      expect(type).toBe('Doors');
      expect(await ask('user', 'GET', `${remotes}/${id}`)).toMatchObject({ status: 'Accepted', remote: lock });
      await report(FIRST, id, 'Accepted', 'SentToVehicle');
      await told(one, [`${id}.Accepted`, `${id}.SentToVehicle`]);
      // A hub that stops before it has stored the answer sends the last state again with the same id.
      while ((await waiting()) > 0) await new Promise(setImmediate);
      await hub.stop();
      await start();
      await report(FIRST, id, 'Success');
      await told(one, [`${id}.Success`]);
      expect(idsIn(one.received)).toEqual([`${id}.Accepted`, `${id}.SentToVehicle`, `${id}.Success`]);
      const written = one.received.flatMap(({ body: text }) => JSON.parse(text));
      expect(written).toMatchObject(
        ['Accepted', 'SentToVehicle', 'Success'].map((status) => ({
          callbackId,
          type: 'Remote',
          remoteEvent: { remoteActionId: id, eventStatus: { status } },
        })),
      );
      const listed = await ask('user', 'GET', remotes);
      expect(listed._embedded.remoteActions).toMatchObject([{ remoteActionId: id, status: 'Success', remote: lock }]);
      // No other car of the fleet has this command. The audit trail lists it with all others.
      const others = `${USER}/vehicles/${idOf(FIRST)}/callbacks/${callbackId}/remotes/00`;
      expect((await asked('user', 'GET', others)).status).toBe(404);
      const trail = await ask('fleet', 'GET', `/vigie/v1/vehicles/${FIRST}/remotes`);
      expect(trail.remotes).toContainEqual(
        expect.objectContaining({ remoteActionId: id, requestedBy: 'ada', status: 'Success' }),
      );
      await ask('user', 'DELETE', `${USER}/callbacks/${callbackId}`);
      await report(FIRST, id, 'Success');
      expect(await waiting()).toBe(0);
    });

    test('a fleet callback sends commands of its kinds to its cars, and ignores states from other cars', async () => {
      const one = await receiver();
      const subscribe = {
        label: 'doors',
        remoteTypes: ['Doors'],
        callback: { webhook: { target: one.url, name: 'n' } },
      };
      const { callbackId } = await ask('fleet', 'POST', `${FLEET}/remote/callbacks`, subscribe);
      const remotes = `${FLEET}/vehicles/${idOf(SECOND)}/callbacks/${callbackId}/remotes`;
      const refused = await asked('fleet', 'POST', remotes, { lights: { on: true } });
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('takes Doors')]);
      expect((await asked('user', 'POST', remotes, lock)).status).toBe(403);
      const { remoteActionId: id } = await ask('fleet', 'POST', remotes, { door: { state: 'Locked' } });
      await report(FIRST, id, 'Failed');
      await report(SECOND, id, 'Success');
      await told(one, [`${id}.Success`]);
      expect(idsIn(one.received)).toEqual([`${id}.Success`]);
      const there = await ask('fleet', 'GET', `${FLEET}/vehicles/${idOf(FIRST)}/callbacks/${callbackId}/remotes`);
      expect(there._embedded.remoteActions).toEqual([]);
      await ask('fleet', 'DELETE', `${FLEET}/remote/callbacks/${callbackId}`);
    });

    test('a request with the same key sends one command', async () => {
      const one = await receiver();
      const body = { label: 'mine', type: ['Remote'], callback: { webhook: { target: one.url, name: 'n' } } };
      const { callbackId } = await ask('user', 'POST', `${USER}/callbacks`, body);
      const remotes = `${USER}/vehicles/${idOf(FIRST)}/callbacks/${callbackId}/remotes`;
      const key = { 'idempotency-key': 'lock-once' };
      const sent = [await asked('user', 'POST', remotes, lock, key), await asked('user', 'POST', remotes, lock, key)];
      const ids = await Promise.all(sent.map(async (response) => ((await response.json()) as Json).remoteActionId));
      expect(new Set(ids).size).toBe(1);
      const other = await asked('user', 'POST', remotes, { door: { state: 'Unlocked' } }, key);
      expect(other.status).toBe(400);
      expect((await ask('user', 'GET', remotes)).total).toBe(1);
      await ask('user', 'DELETE', `${USER}/callbacks/${callbackId}`);
    });

    test('events of a car outside a monitor’s fleet are not sent to its receiver', async () => {
      const one = await receiver();
      const { callbackId, monitorId } = await userMonitor(one.url);
      await say(SECOND, 'event', eventOf(monitorId));
      const event = eventOf(monitorId);
      await say(FIRST, 'event', event);
      await told(one, [idAt(FIRST, event)]);
      expect(idsIn(one.received)).toEqual([idAt(FIRST, event)]);
      await ask('user', 'DELETE', `${USER}/callbacks/${callbackId}`);
    });

    test('events from before a monitor was removed are delivered, and then its receiver is removed', async () => {
      const one = await receiver();
      one.behaviour = refuse;
      const monitorId = await fleetMonitor(one.url);
      const events = [eventOf(monitorId), eventOf(monitorId)];
      for (const event of events) await say(FIRST, 'event', event);
      await ask('fleet', 'DELETE', `${FLEET}/monitors/${monitorId}`);
      one.behaviour = (_, response) => response.writeHead(200).end();
      await told(
        one,
        events.map((event) => idAt(FIRST, event)),
      );
      await say(FIRST, 'event', eventOf(monitorId));
      await hub.stop();
      const left = await withDatabase(({ deliveries }) =>
        deliveries.claim({ now: Number.MAX_SAFE_INTEGER, lease: 'test', lasts: 0, proven: true, limit: 9 }),
      );
      expect(left).toEqual([]);
      await start();
    });

    test('if too many events wait, the oldest are dropped, logged and counted, except those being sent', async () => {
      const monitorId = await fleetMonitor('http://127.0.0.1:9/', { batchNotify: { size: 2, timeWindow: 86_400 } });
      await hub.stop();
      const car = cars.get(FIRST) ?? { seq: 0 };
      const messages = Array.from({ length: 7 }, () =>
        received('event', eventOf(monitorId), { vin: FIRST, seq: car.seq++, received: Date.now() }),
      );
      await withDatabase(async ({ store, deliveries }) => {
        const receiver = `monitor/${monitorId}`;
        const first = await store.save(messages.slice(0, 2), []);
        expect(first.deliveries).toMatchObject({ receivers: 1, dropped: [] });
        const claimed = await deliveries.claim({ now: Date.now(), lease: 'a', lasts: 60_000, proven: false, limit: 9 });
        expect(claimed.map(({ key }) => key)).toEqual([receiver]);
        const change = { key: receiver, lease: 'a', held: 2, tries: 1, due: 5, done: [], lasts: 0 };
        expect([...(await deliveries.save([change]))]).toEqual([]);
        const more = await store.save(messages.slice(2), []);
        expect(more.deliveries?.dropped).toEqual([{ receiver, count: 4, total: 4 }]);
        expect((await deliveries.waiting(receiver, 9)).map(({ seq }) => seq)).toEqual([0, 1, 6]);
        // Another hub takes over the delivery, so this one must not change anything any more.
        await deliveries.claim({ now: Date.now(), lease: 'b', lasts: 60_000, proven: false, limit: 9 });
        expect([...(await deliveries.save([{ ...change, done: [0, 1] }]))]).toEqual([receiver]);
        expect((await deliveries.waiting(receiver, 9)).map(({ seq }) => seq)).toEqual([0, 1, 6]);
        await deliveries.removeReceiver(receiver, 'b');
        expect(await deliveries.totals()).toEqual({ waiting: 0, receivers: 0 });
      }, 3);
      await start();
      await ask('fleet', 'DELETE', `${FLEET}/monitors/${monitorId}`);
    });

    test('a receiver gets later events, although its only event to be tried again went with a car that left', async () => {
      const one = await receiver();
      one.behaviour = refuse;
      const monitorId = await fleetMonitor(one.url);
      const refused = one.next();
      await say(SECOND, 'event', eventOf(monitorId));
      await refused;
      await hub.stop();
      await withRegistry((registry) => registry.leave(SECOND, [NORTH], Date.now()));
      // As a hub does at the time of the retry.
      await withDatabase(async ({ deliveries }) => {
        const now = Date.now() + 60_000;
        const [claimed] = await deliveries.claim({ now, lease: 'l', lasts: 1, proven: false, limit: 1 });
        const { key, lease, held, tries, due = now, next } = claimed!;
        const released = { proven: false, now, seen: next };
        await deliveries.save([{ key, lease, held, tries, due, done: [], lasts: 1, released }]);
      });
      await withRegistry((registry) => registry.add(SECOND, [NORTH], Date.now()));
      one.behaviour = (_, response) => response.writeHead(200).end();
      await start();
      const later = eventOf(monitorId);
      await say(SECOND, 'event', later);
      await told(one, [idAt(SECOND, later)]);
      await ask('fleet', 'DELETE', `${FLEET}/monitors/${monitorId}`);
    });

    test('a fleet receives no more events of a car that left, and no events of a forgotten car wait', async () => {
      const one = await receiver();
      one.behaviour = refuse;
      const monitorId = await fleetMonitor(one.url);
      const [first, gone, later] = [eventOf(monitorId), eventOf(monitorId), eventOf(monitorId)];
      await say(FIRST, 'event', first);
      await say(SECOND, 'event', gone);
      await withRegistry((registry) => registry.leave(SECOND, [NORTH], Date.now()));
      expect(await waiting()).toBe(1);
      one.behaviour = (_, response) => response.writeHead(200).end();
      await say(FIRST, 'event', later);
      await told(one, [idAt(FIRST, first), idAt(FIRST, later)]);
      expect(idsIn(one.received)).not.toContain(idAt(SECOND, gone));
      one.behaviour = refuse;
      await say(FIRST, 'event', eventOf(monitorId));
      expect(await waiting()).toBe(1);
      await withRegistry((registry) => registry.forget(FIRST, Date.now()));
      expect(await waiting()).toBe(0);
    });
  });
}
