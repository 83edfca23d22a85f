/** Slow, dead and healthy receivers of one hub, and hubs that share receivers, whatever database they have. */
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { WebhookChannel } from '../../adapters/callbacks/webhook.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import type { Clock } from '../../agent/ports.ts';
import type { HubDatabase } from '../../assembly/hub-database.ts';
import { HubDeliveries } from '../../assembly/hub-deliveries.ts';
import { hubNotifier } from '../../assembly/hub-notifier.ts';
import { DeliveryMeasures } from '../../hub/delivery-measures.ts';
import { compileMonitor } from '../../protocol/schema/monitor.ts';
import { HttpReceiver, loopback } from '../adapters/callbacks/servers.ts';
import { NOON, ONE, received } from '../hub/messages.ts';
import { rightBodies } from '../rig/interface-bodies.ts';
import { MemoryLog } from '../rig/log.ts';

const OWNER = { kind: 'fleet', id: 'local' } as const;

/** `open` gives connections to one database, which is new for each test. */
export function hubReceiversContract(name: string, database: () => Promise<() => Promise<HubDatabase>>): void {
  describe(`receivers of hubs on ${name}`, () => {
    const system = new SystemClock();
    // However slow the machine is, a receiver that answers does so at once.
    const clock: Clock = {
      now: () => system.now(),
      monotonic: () => 0,
      after: (delay, due) => system.after(delay, due),
    };
    const opened: HubDatabase[] = [];
    const hubs: HubDeliveries[] = [];
    let events = 0;
    let seq = 0;

    afterEach(async () => {
      for (const hub of hubs.splice(0)) await hub.stop();
      for (const one of new Set(opened.splice(0))) await one.close();
    });

    async function connected(open: () => Promise<HubDatabase>): Promise<HubDatabase> {
      const one = await open();
      opened.push(one);
      return one;
    }

    function hubOn({ deliveries, monitorStore }: HubDatabase): {
      readonly hub: HubDeliveries;
      readonly measures: DeliveryMeasures;
    } {
      const webhook = new WebhookChannel({ addresses: loopback, timeout: 600_000, now: () => clock.now() });
      onTestFinished(() => webhook.close());
      const measures = new DeliveryMeasures();
      const hub = new HubDeliveries({
        ...{ store: deliveries, books: monitorStore, notifier: hubNotifier({ webhook }), measures, clock },
        motorizationOf: async () => 'Electric',
        changed: () => undefined,
        log: new MemoryLog(),
      });
      hubs.push(hub);
      return { hub, measures };
    }

    async function receiver(): Promise<HttpReceiver> {
      const one = await new HttpReceiver().open();
      onTestFinished(() => one.close());
      return one;
    }

    /** Monitors whose events go to the addresses. */
    async function monitorsTo({ monitorStore }: HubDatabase, targets: readonly string[]): Promise<string[]> {
      const ids: string[] = [];
      for (const target of targets) {
        const subscribeParam = { retryPolicy: { policy: 'Always' }, callback: { webhook: { target, name: 'n' } } };
        const { parameter } = compileMonitor({ ...rightBodies.fleetMonitor, subscribeParam });
        const monitorId = `a${(++events).toString(16)}`;
        const monitor = { createdAt: NOON, monitorId, updatedAt: NOON, status: 'Running' as const, monitor: parameter };
        await monitorStore.putMonitor({ owner: OWNER, monitor });
        ids.push(monitorId);
      }
      return ids;
    }

    const eventsOf = (monitors: readonly string[]) =>
      monitors.map((monitorId) => {
        const event = { id: (++events).toString(16), monitorId, at: Date.now(), refresh: false };
        return received('event', event, { vin: ONE, seq: seq++, received: Date.now() });
      });

    test('receivers that hang take three quarters of the requests at most, and the others get their events at once', async () => {
      const store = await connected(await database());
      const { hub } = hubOn(store);
      const [hanging, healthy] = [await receiver(), await receiver()];
      const [known = ''] = await monitorsTo(store, [healthy.url]);
      await store.store.save(eventsOf([known]), []);
      const first = healthy.next();
      hub.wake();
      await first;
      // It has shown by then that it answers at once.
      await drained(store);
      hanging.behaviour = () => undefined;
      const dead = await monitorsTo(
        store,
        Array.from({ length: 260 }, () => hanging.url),
      );
      await store.store.save(eventsOf(dead), []);
      hub.wake();
      while (hanging.received.length < 192) await hanging.next();
      for (let count = 2; count <= 20; count++) {
        const next = healthy.next();
        // Nobody waits for a receiver: the commit has ended before the request begins.
        await store.store.save(eventsOf([known]), []);
        hub.wake();
        await next;
        expect(healthy.received).toHaveLength(count);
      }
      expect(hanging.received).toHaveLength(192);
    });

    test('two hubs share receivers: each event is sent once, and never two requests to one receiver at a time', async () => {
      const open = await database();
      const stores = [await connected(open), await connected(open)] as const;
      const [{ hub: one }, { hub: other }] = [hubOn(stores[0]), hubOn(stores[1])];
      const receivers = await Promise.all(Array.from({ length: 12 }, () => receiver()));
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
      const monitors = await monitorsTo(
        stores[0],
        receivers.map(({ url }) => url),
      );
      for (let round = 0; round < 8; round++) {
        await stores[round % 2 === 0 ? 0 : 1].store.save(eventsOf(monitors), []);
        one.wake();
        other.wake();
      }
      for (const each of receivers) while (each.received.length < 8) await each.next();
      await drained(stores[0]);
      for (const each of receivers) {
        const ids = each.received.map(({ headers }) => String(headers['vigie-event-id']));
        expect([ids.length, new Set(ids).size]).toEqual([8, 8]);
      }
      expect(overlaps).toEqual([]);
    });

    test('hubs that claim at the same moment claim different receivers, and what one had claimed that died is claimed when its lease has ended', async () => {
      const open = await database();
      const stores = [await connected(open), await connected(open)] as const;
      const monitors = await monitorsTo(
        stores[0],
        Array.from({ length: 30 }, () => 'http://127.0.0.1:9/'),
      );
      await stores[0].store.save(eventsOf(monitors), []);
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

    /** Resolves when nothing waits. */
    async function drained({ deliveries }: HubDatabase): Promise<void> {
      while ((await deliveries.totals()).waiting > 0) await new Promise<void>((resolve) => clock.after(10, resolve));
    }
  });
}
