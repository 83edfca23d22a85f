/** Hubs that deliver events to real receivers, without brokers and interfaces. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PushChannel } from '../../adapters/callbacks/push.ts';
import { WebhookChannel } from '../../adapters/callbacks/webhook.ts';
import { WebsocketChannel } from '../../adapters/callbacks/websocket.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import { defineCallback } from '../../agent/callbacks/definition.ts';
import type { Clock } from '../../agent/ports.ts';
import { DeliveryMeasures } from '../../hub/core/delivery-measures.ts';
import type { CarMessage } from '../../hub/core/message.ts';
import type { MonitorStore } from '../../hub/core/monitors.ts';
import type { HubDatabase } from '../../hub/start/database.ts';
import { HubDeliveries } from '../../hub/start/deliveries.ts';
import { hubNotifier } from '../../hub/start/notifier.ts';
import type { Callback } from '../../protocol/schema/callback.ts';
import { compileMonitor } from '../../protocol/schema/monitor.ts';
import { PushService, vapidKeys } from '../adapters/callbacks/push-service.ts';
import { HttpReceiver, loopback } from '../adapters/callbacks/servers.ts';
import { WebsocketReceiver } from '../adapters/callbacks/websocket-receiver.ts';
import { Authority } from '../rig/certificates.ts';
import { rightBodies } from '../rig/interface-bodies.ts';
import { MemoryLog } from '../rig/log.ts';
import { NOON, ONE, received } from './messages.ts';

export class DeliveryRig {
  readonly user = { kind: 'user', id: 'ada' } as const;
  /** Duration of each receiver's answer, ms. It is 0 on every machine unless a test sets it. */
  monotonic = 0;
  readonly #system = new SystemClock();
  readonly #clock: Clock = {
    now: () => this.#system.now(),
    monotonic: () => this.monotonic,
    after: (delay, due) => this.#system.after(delay, due),
  };
  readonly #folder = mkdtempSync(join(tmpdir(), 'vigie-deliveries-'));
  readonly #authority = new Authority(this.#folder);
  readonly #vapid = vapidKeys();
  readonly #ends: (() => Promise<unknown>)[] = [];
  readonly #databases = new Set<HubDatabase>();
  #numbers = 0;

  /** Closes everything that a test has opened, in reverse order. */
  async close(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
    for (const one of this.#databases) await one.close();
    this.#databases.clear();
    this.monotonic = 0;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async connected(open: () => Promise<HubDatabase>): Promise<HubDatabase> {
    const one = await open();
    this.#databases.add(one);
    return one;
  }

  hubOn({ deliveries, monitorStore }: HubDatabase): {
    readonly hub: HubDeliveries;
    readonly measures: DeliveryMeasures;
    readonly log: MemoryLog;
  } {
    const parts = { addresses: loopback, timeout: 600_000, now: () => this.#clock.now() };
    const webhook = new WebhookChannel(parts);
    const websocket = new WebsocketChannel(parts);
    const pushnotif = new PushChannel({
      ...parts,
      ca: Buffer.from(this.#authority.cert).toString(),
      vapid: this.#vapid,
    });
    const [measures, log] = [new DeliveryMeasures(), new MemoryLog()];
    const hub = new HubDeliveries({
      store: deliveries,
      books: monitorStore,
      notifier: hubNotifier({ webhook, websocket, pushnotif }),
      measures,
      clock: this.#clock,
      log,
      motorizationOf: async () => 'Electric',
      changed: () => undefined,
    });
    for (const channel of [webhook, websocket, pushnotif]) this.#ends.push(() => channel.close());
    this.#ends.push(() => hub.stop());
    return { hub, measures, log };
  }

  async receiver(): Promise<HttpReceiver> {
    return this.#opened(await new HttpReceiver().open());
  }

  async websocket(): Promise<WebsocketReceiver> {
    return this.#opened(await new WebsocketReceiver().open());
  }

  async pushService(): Promise<PushService> {
    return this.#opened(await new PushService(this.#authority.issue('push'), this.#vapid.publicKey).open());
  }

  #opened<T extends { close(): Promise<unknown> }>(one: T): T {
    this.#ends.push(() => one.close());
    return one;
  }

  /** Creates monitors of a fleet whose events go to these addresses. */
  async monitorsTo(
    { monitorStore }: { readonly monitorStore: Pick<MonitorStore, 'putMonitor'> },
    targets: readonly string[],
    more: object = {},
  ): Promise<string[]> {
    const ids: string[] = [];
    for (const target of targets) {
      const callback = { webhook: { target, name: 'n' } };
      const subscribeParam = { retryPolicy: { policy: 'Always' }, callback, ...more };
      const { parameter } = compileMonitor({ ...rightBodies.fleetMonitor, subscribeParam });
      const monitorId = this.#newId();
      const monitor = { createdAt: NOON, monitorId, updatedAt: NOON, status: 'Running' as const, monitor: parameter };
      await monitorStore.putMonitor({ owner: { kind: 'fleet', id: 'local' }, monitor });
      ids.push(monitorId);
    }
    return ids;
  }

  /** Creates a callback of a user and a monitor under it. */
  async userMonitor(
    { monitorStore }: HubDatabase,
    channel: object,
  ): Promise<{ readonly callback: Callback; readonly monitor: string }> {
    const [callbackId, monitorId] = [this.#newId(), this.#newId()];
    const callback = defineCallback(
      { side: 'user', id: callbackId, input: { label: 'mine', callback: channel } },
      { notifier: { check: () => undefined }, before: undefined, count: 0, now: NOON },
    );
    await monitorStore.putCallback({ owner: this.user, callback });
    const { parameter } = compileMonitor({ ...rightBodies.userMonitor, subscribeParam: { callbackId } });
    const monitor = { createdAt: NOON, monitorId, updatedAt: NOON, status: 'Running' as const, monitor: parameter };
    await monitorStore.putMonitor({ owner: this.user, callbackId, monitor });
    return { callback, monitor: monitorId };
  }

  eventsOf(monitors: readonly string[]): CarMessage[] {
    return monitors.map((monitorId) => {
      const event = { id: this.#newId(), monitorId, at: Date.now(), refresh: false };
      return received('event', event, { vin: ONE, seq: this.#numbers, received: Date.now() });
    });
  }

  /** Resolves when exactly `waiting` events wait. */
  async drained({ deliveries }: HubDatabase, waiting = 0): Promise<void> {
    while ((await deliveries.totals()).waiting !== waiting) {
      await new Promise<void>((resolve) => this.#clock.after(10, resolve));
    }
  }

  #newId(): string {
    return (++this.#numbers).toString(16);
  }
}
