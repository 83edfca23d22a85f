/** Slow, dead and healthy receivers of one hub, and receivers shared by several hubs, on any database. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { HubDatabase } from '../../hub/start/database.ts';
import type { Callback } from '../../protocol/schema/callback.ts';
import type { Monitor } from '../../protocol/schema/monitor.ts';
import { DeliveryRig } from '../hub/delivery-rig.ts';

/** `database` returns a function that opens connections to one database, which is new for each test. */
export function hubReceiversContract(name: string, database: () => Promise<() => Promise<HubDatabase>>): void {
  describe(`receivers of hubs on ${name}`, () => {
    const rig = new DeliveryRig();
    afterEach(() => rig.close());
    afterAll(() => rig.remove());

    test('hanging receivers occupy at most three quarters of the requests, and the others get their events at once', async () => {
      const store = await rig.connected(await database());
      const { hub } = rig.hubOn(store);
      const [hanging, healthy] = [await rig.receiver(), await rig.receiver()];
      const [known = ''] = await rig.monitorsTo(store, [healthy.url]);
      await store.store.save(rig.eventsOf([known]), []);
      const first = healthy.next();
      hub.wake();
      await first;
      // The receiver has now proved to answer at once.
      await rig.drained(store);
      hanging.behaviour = () => undefined;
      const dead = await rig.monitorsTo(
        store,
        Array.from({ length: 260 }, () => hanging.url),
      );
      await store.store.save(rig.eventsOf(dead), []);
      hub.wake();
      while (hanging.received.length < 192) await hanging.next();
      for (let count = 2; count <= 20; count++) {
        const next = healthy.next();
        // No commit waits for a receiver: this one ends before the request begins.
        await store.store.save(rig.eventsOf([known]), []);
        hub.wake();
        await next;
        expect(healthy.received).toHaveLength(count);
      }
      expect(hanging.received).toHaveLength(192);
    });

    test('two hubs share receivers: each event is sent once, with at most one request to a receiver at a time', async () => {
      const open = await database();
      const stores = [await rig.connected(open), await rig.connected(open)] as const;
      const [{ hub: one }, { hub: other }] = [rig.hubOn(stores[0]), rig.hubOn(stores[1])];
      const receivers = await Promise.all(Array.from({ length: 12 }, () => rig.receiver()));
      const overlaps: string[] = [];
      for (const each of receivers) {
        let busy = false;
        each.behaviour = (_, response) => {
          if (busy) overlaps.push(each.url);
          busy = true;
          setImmediate(() => {
            busy = false;
            response.writeHead(200).end();
          });
        };
      }
      const monitors = await rig.monitorsTo(
        stores[0],
        receivers.map(({ url }) => url),
      );
      for (let round = 0; round < 8; round++) {
        await stores[round % 2 === 0 ? 0 : 1].store.save(rig.eventsOf(monitors), []);
        one.wake();
        other.wake();
      }
      for (const each of receivers) while (each.received.length < 8) await each.next();
      await rig.drained(stores[0]);
      for (const each of receivers) {
        const ids = each.received.map(({ headers }) => String(headers['vigie-event-id']));
        expect([ids.length, new Set(ids).size]).toEqual([8, 8]);
      }
      expect(overlaps).toEqual([]);
    });

    test('a hub that loses its lease during a request starts no second request', async () => {
      const store = await rig.connected(await database());
      const { hub } = rig.hubOn(store);
      const [one, other] = [await rig.receiver(), await rig.receiver()];
      const answers: (() => void)[] = [];
      one.behaviour = (_, response) => answers.push(() => response.writeHead(200).end());
      const [first = '', second = ''] = await rig.monitorsTo(store, [one.url, other.url]);
      const asked = one.next();
      await store.store.save(rig.eventsOf([first]), []);
      hub.wake();
      await asked;
      await store.deliveries.releaseAll();
      // This hub claims both receivers together.
      const next = other.next();
      await store.store.save(rig.eventsOf([second]), []);
      hub.wake();
      await next;
      one.behaviour = (_, response) => response.writeHead(200).end();
      for (const answer of answers) answer();
      await rig.drained(store);
      expect(one.received).toHaveLength(1);
    });

    test('hubs that claim at the same time get different receivers, and those of a dead hub are claimed once its lease ends', async () => {
      const open = await database();
      const stores = [await rig.connected(open), await rig.connected(open)] as const;
      const monitors = await rig.monitorsTo(
        stores[0],
        Array.from({ length: 30 }, () => 'http://127.0.0.1:9/'),
      );
      await stores[0].store.save(rig.eventsOf(monitors), []);
      const claim = async (hub: 0 | 1) => {
        const options = { now: Date.now(), lease: `${hub}`, lasts: 600_000, proven: false, limit: 20 };
        return (await stores[hub].deliveries.claim(options)).map(({ key }) => key).sort();
      };
      const [ofOne, ofOther] = await Promise.all([claim(0), claim(1)]);
      expect(new Set([...ofOne, ...ofOther]).size).toBe(30);
      expect(ofOne.length + ofOther.length).toBe(30);
      expect(await claim(0)).toEqual([]);
      const ended = { lease: '1', held: 0, tries: 0, done: [], lasts: 0 };
      await stores[1].deliveries.save(ofOther.map((key) => ({ key, ...ended })));
      expect(await claim(0)).toEqual(ofOther);
    });

    test('a receiver that answers late loses its priority', async () => {
      const store = await rig.connected(await database());
      const { hub } = rig.hubOn(store);
      const one = await rig.receiver();
      const [monitor = ''] = await rig.monitorsTo(store, [one.url]);
      const isProven = async (): Promise<boolean> => {
        const next = one.next();
        await store.store.save(rig.eventsOf([monitor]), []);
        hub.wake();
        await next;
        await rig.drained(store);
        await hub.stop();
        await store.store.save(rig.eventsOf([monitor]), []);
        const options = { now: Date.now(), lease: 'test', lasts: 0, proven: true, limit: 1 };
        return (await store.deliveries.claim(options)).length === 1;
      };
      one.behaviour = (_, response) => {
        rig.monotonic += 1_000;
        response.writeHead(200).end();
      };
      expect(await isProven()).toBe(false);
    });

    test('events of a batching monitor are sent together once there are enough, and wait until then', async () => {
      const store = await rig.connected(await database());
      const { hub, measures } = rig.hubOn(store);
      const one = await rig.receiver();
      const batchNotify = { size: 3, timeWindow: 86_400 };
      const [monitor = ''] = await rig.monitorsTo(store, [one.url], { batchNotify });
      const next = one.next();
      await store.store.save(rig.eventsOf(Array.from({ length: 5 }, () => monitor)), []);
      hub.wake();
      await next;
      await rig.drained(store, 2);
      expect(one.received.map(({ body }) => JSON.parse(body).events.length)).toEqual([3]);
      const second = one.next();
      await store.store.save(rig.eventsOf([monitor]), []);
      hub.wake();
      await second;
      await rig.drained(store);
      expect(one.received.map(({ body }) => JSON.parse(body).events.length)).toEqual([3, 3]);
      expect(measures.counts).toMatchObject({ delivered: 6, failed: 0 });
    });

    test('a refused request is repeated unchanged as often as the monitor asks, and is then dropped', async () => {
      const store = await rig.connected(await database());
      const { hub, measures, log } = rig.hubOn(store);
      const one = await rig.receiver();
      one.behaviour = (_, response) => response.writeHead(503).end();
      const retryPolicy = { policy: 'Bounded', retryNumber: 1, retryDelay: 1 };
      const [monitor = ''] = await rig.monitorsTo(store, [one.url], { retryPolicy });
      await store.store.save(rig.eventsOf([monitor]), []);
      hub.begin();
      hub.wake();
      while (one.received.length < 2) await one.next();
      await rig.drained(store);
      const [first, second] = one.received;
      expect([second?.body, second?.headers['vigie-event-id']]).toEqual([
        first?.body,
        first?.headers['vigie-event-id'],
      ]);
      expect(measures.counts).toEqual({
        delivered: 0,
        failed: 2,
        lost: { dropped: 0, refused: 1, expired: 0, damaged: 0 },
      });
      expect(log.lines.map(({ event }) => event)).toEqual(['callbacks.refusing', 'callbacks.undelivered']);
    });

    test('a websocket connection stays open until its callback is paused', async () => {
      const store = await rig.connected(await database());
      const { hub } = rig.hubOn(store);
      const one = await rig.websocket();
      const { callback, monitor } = await rig.userMonitor(store, { websocket: { target: one.url, name: 'n' } });
      for (let count = 1; count <= 2; count++) {
        await store.store.save(rig.eventsOf([monitor]), []);
        hub.wake();
        await one.seen(count);
        await rig.drained(store);
      }
      expect(one.connections).toBe(1);
      const closed = new Promise((resolve) => one.clients[0]?.once('close', resolve));
      await store.monitorStore.putCallback({ owner: rig.user, callback: { ...callback, status: 'Paused' } });
      hub.changed();
      await closed;
    });

    test('a device that no longer exists is removed from its callback, and the callback goes with its last device', async () => {
      const store = await rig.connected(await database());
      const service = await rig.pushService();
      const { hub, log } = rig.hubOn(store);
      const devices = ['one', 'two'].map((device) => JSON.stringify(service.subscribe(device)));
      const { monitor } = await rig.userMonitor(store, { pushnotif: { devices, name: 'n' } });
      const callbacks = async () =>
        (await store.monitorStore.callbacksOf(rig.user)).map(
          ({ callback }) => callback.subscribe.callback.pushnotif?.devices,
        );
      service.unsubscribe('two');
      await store.store.save(rig.eventsOf([monitor]), []);
      hub.wake();
      await rig.drained(store);
      expect(service.pushed.map(({ device }) => device)).toEqual(['one']);
      expect(await callbacks()).toEqual([[devices[0]]]);
      service.unsubscribe('one');
      await store.store.save(rig.eventsOf([monitor]), []);
      hub.wake();
      await rig.drained(store);
      await hub.stop();
      expect([await callbacks(), await store.monitorStore.monitorsOf(rig.user)]).toEqual([[], []]);
      expect(log.lines.map(({ event }) => event)).toEqual(['callbacks.forgotten', 'callbacks.forgotten']);
    });

    test('a monitor or callback id of one owner cannot be reused by another fleet or user', async () => {
      const store = await rig.connected(await database());
      const { monitorStore } = store;
      const { callback, monitor } = await rig.userMonitor(store, {
        webhook: { target: 'http://127.0.0.1:9/', name: 'n' },
      });
      const [before, beside] = [await monitorStore.monitorsOf(rig.user), await monitorStore.callbacksOf(rig.user)];
      const [own] = before;
      const bob = { kind: 'user', id: 'bob' } as const;
      const south = { kind: 'fleet', id: 'south' } as const;
      const refused = { code: 'request.forbidden' };
      for (const owner of [bob, south]) {
        const changed = { ...callback, status: 'Paused' as const };
        await expect(monitorStore.putCallback({ owner, callback: changed })).rejects.toMatchObject(refused);
        const taken = { owner, monitor: { ...own?.monitor, status: 'Paused' } as Monitor };
        await expect(monitorStore.putMonitor(taken)).rejects.toMatchObject(refused);
        expect([await monitorStore.monitorsOf(owner), await monitorStore.callbacksOf(owner)]).toEqual([[], []]);
      }
      expect(before.map((one) => one.monitor.monitorId)).toEqual([monitor]);
      expect(await monitorStore.monitorsOf(rig.user)).toEqual(before);
      expect(await monitorStore.callbacksOf(rig.user)).toEqual(beside);
    });

    test('a callback without a receiver blocks nothing else, and its events wait until it has one', async () => {
      const store = await rig.connected(await database());
      const { hub, log } = rig.hubOn(store);
      const [healthy, repaired] = [await rig.receiver(), await rig.receiver()];
      const [known = ''] = await rig.monitorsTo(store, [healthy.url]);
      const { callback, monitor } = await rig.userMonitor(store, { webhook: { target: repaired.url, name: 'n' } });
      await store.store.save(rig.eventsOf([monitor]), []);
      const { callback: _, ...without } = callback.subscribe;
      const broken = { ...callback, subscribe: without } as unknown as Callback;
      await store.monitorStore.putCallback({ owner: rig.user, callback: broken });
      const { fresh, deliveries } = await store.store.save(rig.eventsOf([monitor, known]), []);
      expect(fresh).toHaveLength(2);
      expect(deliveries?.unreadable).toMatchObject([{ key: `callback/${callback.callbackId}` }]);
      const first = healthy.next();
      hub.wake();
      await first;
      while (!log.lines.some(({ event }) => event === 'callbacks.unreadable')) await new Promise(setImmediate);
      await rig.drained(store, 2);
      const next = repaired.next();
      await store.monitorStore.putCallback({ owner: rig.user, callback });
      hub.wake();
      await next;
      await rig.drained(store);
      expect(repaired.received.flatMap(({ body }) => JSON.parse(String(body)))).toHaveLength(2);
    });
  });
}
