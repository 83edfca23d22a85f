/**
 * Events of monitors from end to end: the real queue, the real store on disk, the real channels, and receivers that
 * answer 500, hang, break off, redirect and go offline, while the agent restarts and the power fails.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NotificationChannel } from '../../../adapters/callbacks/channel.ts';
import { PushChannel } from '../../../adapters/callbacks/push.ts';
import { notifierOf } from '../../../adapters/callbacks/request-batch.ts';
import type { VapidKeys } from '../../../adapters/callbacks/vapid.ts';
import { WebhookChannel } from '../../../adapters/callbacks/webhook.ts';
import { WebsocketChannel } from '../../../adapters/callbacks/websocket.ts';
import { openStore, type Store } from '../../../adapters/store/index.ts';
import { Callbacks } from '../../../agent/callbacks/callbacks.ts';
import { deviceText } from '../../../protocol/schema/callback/device.ts';
import { compileMonitor, type Monitor } from '../../../protocol/schema/monitor.ts';
import { parameter, settle, vehicle } from '../../agent/callbacks/rig.ts';
import { Authority } from '../../rig/certificates.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { PushService, vapidKeys } from './push-service.ts';
import { accept, type Behaviour, HttpReceiver, loopback } from './servers.ts';
import { WebsocketReceiver } from './websocket-receiver.ts';

let folder: string;
let ca: string;
let vapid: VapidKeys;
let http: HttpReceiver;
let other: HttpReceiver;
let socket: WebsocketReceiver;
let push: PushService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-delivery-'));
  const authority = new Authority(folder);
  ca = Buffer.from(authority.cert).toString();
  vapid = vapidKeys();
  push = await new PushService(authority.issue('push'), vapid.publicKey).open();
  [http, other, socket] = [new HttpReceiver(), new HttpReceiver(), new WebsocketReceiver()];
  for (const one of [http, other, socket]) await one.open();
});

afterAll(async () => {
  for (const one of [http, other, socket, push]) await one.close();
  rmSync(folder, { recursive: true });
});

/** A car that supports an orderly stop of the agent and a power cut. */
class Car {
  readonly #name: string;
  readonly clock = new VirtualClock();
  readonly log = new MemoryLog();
  readonly monitors = new Map<string, Monitor>();
  readonly #underWay = new Set<Promise<unknown>>();
  #starts = 0;
  #told = 0;
  store!: Store;
  callbacks!: Callbacks;
  #close: () => Promise<void> = async () => undefined;

  /** @param name prefix of the car's folders */
  constructor(name: string) {
    this.#name = name;
  }

  async start(): Promise<void> {
    this.#starts++;
    const { clock, log, monitors } = this;
    this.store = await openStore(join(folder, `${this.#name}-${this.#starts}`), {
      now: () => clock.now(),
      settleWithin: 1,
    });
    const { memory, records, outbox } = this.store;
    const options = { addresses: loopback, ca, timeout: 300, now: () => clock.now() };
    const channels = {
      webhook: new WebhookChannel(options),
      websocket: new WebsocketChannel(options),
      pushnotif: new PushChannel({ ...options, vapid }),
    };
    const follow = <P>(channel: NotificationChannel<P>): NotificationChannel<P> => ({
      deliver: (outgoing) => this.#follow(channel.deliver(outgoing)),
      check: (url, where) => channel.check(url, where),
      release: (receiver) => channel.release?.(receiver),
    });
    this.callbacks = new Callbacks({
      clock,
      log,
      notifier: notifierOf(
        {
          webhook: follow(channels.webhook),
          websocket: follow(channels.websocket),
          pushnotif: follow(channels.pushnotif),
        },
        () => vehicle,
      ),
      records,
      committed: () => this.#follow(outbox.commit()),
      monitors: {
        get all() {
          return [...monitors.values()];
        },
        get: (id) => monitors.get(id),
        remove: (id) => monitors.delete(id),
      },
    });
    this.callbacks.recall(memory);
    memory.keep(() => this.callbacks.states());
    this.callbacks.start();
    const { callbacks, store } = this;
    this.#close = async () => {
      callbacks.stop();
      for (const channel of Object.values(channels)) await channel.close();
      await store.close();
    };
  }

  /** Stops in order and starts again. */
  async restart(): Promise<void> {
    await this.#close();
    this.#copy();
    await this.start();
  }

  /** Restarts from a copy of the current disk, as after a power cut. */
  async cut(): Promise<void> {
    const close = this.#close;
    this.#copy();
    await this.start();
    await close();
  }

  async stop(): Promise<void> {
    await this.#close();
  }

  /** Raises one event of each monitor and commits it. */
  async tell(): Promise<string> {
    const id = (++this.#told).toString(16).padStart(3, '0');
    for (const [monitorId] of this.monitors) {
      this.callbacks.event({
        id: `${id}-${monitorId}`,
        monitorId,
        at: this.clock.now(),
        refresh: false,
        values: [{ data: 'vehicle.odometer', literal: id }],
      });
    }
    await this.store.outbox.commit();
    return id;
  }

  /** Advances the clock by whole seconds. Each second waits for all deliveries under way. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.clock.advance(1000);
      await settle();
      while (this.#underWay.size > 0) {
        await Promise.allSettled([...this.#underWay]);
        await settle();
      }
    }
  }

  monitor(monitorId: string, delivery: Record<string, unknown>): void {
    const now = this.clock.now();
    const { parameter: monitor } = compileMonitor(parameter(delivery));
    this.monitors.set(monitorId, { createdAt: now, monitorId, updatedAt: now, status: 'Running', monitor });
  }

  #copy(): void {
    cpSync(join(folder, `${this.#name}-${this.#starts}`), join(folder, `${this.#name}-${this.#starts + 1}`), {
      recursive: true,
    });
    rmSync(join(folder, `${this.#name}-${this.#starts + 1}`, 'lock'), { force: true });
  }

  async #follow<T>(promise: Promise<T>): Promise<T> {
    this.#underWay.add(promise);
    return promise.finally(() => this.#underWay.delete(promise));
  }
}

const troubles: Readonly<Record<string, Behaviour>> = {
  'answers 500': (_, response) => response.writeHead(500).end(),
  hangs: () => undefined,
  'breaks off': (_, __, line) => line.destroy(),
  redirects: (_, response) => response.writeHead(308, { location: other.url }).end(),
};

test('every receiver gets exactly the events, in order, despite failing receivers, restarts and power cuts', async () => {
  const car = new Car('many');
  await car.start();
  const device = deviceText(push.subscribe('phone'));
  const webhook = { target: http.url, name: 'app', secret: 'a secret of sixteen' };
  const app = car.callbacks.add('user', { callback: { webhook } }).callbackId;
  const panel = car.callbacks.add('user', { callback: { websocket: { target: socket.url } } }).callbackId;
  const phone = car.callbacks.add('user', { callback: { pushnotif: { devices: [device] } } }).callbackId;
  car.monitor('f1', {
    subscribeParam: {
      retryPolicy: { policy: 'Always', retryDelay: 2 },
      callback: { webhook: { target: `${http.url}/fleet`, name: 'fleet' } },
    },
  });
  for (const [id, callbackId] of Object.entries({ a1: app, b1: panel, c1: phone })) {
    car.monitor(id, { subscribeParam: { callbackId } });
  }

  const told: string[] = [];
  /** Ids that a receiver answered with 2xx, by path. */
  const taken: Record<string, string[]> = { '/events': [], '/events/fleet': [] };
  const take: Behaviour = (request, response, line) => {
    const ids = String(request.headers['vigie-event-id']).split(', ');
    taken[request.url]?.push(...ids);
    accept(request, response, line);
  };
  http.behaviour = take;
  for (const trouble of Object.values(troubles)) {
    told.push(await car.tell());
    await car.pass(1);
    http.behaviour = trouble;
    socket.behaviour = (_, line) => line.terminate();
    push.behaviour = () => ({ status: 503 });
    told.push(await car.tell(), await car.tell());
    await car.pass(13);
    await car.restart();
    told.push(await car.tell());
    await car.pass(3);
    http.behaviour = take;
    socket.behaviour = (frame, line) => socket.acknowledge(frame, line);
    push.behaviour = () => undefined;
    // The power cut follows at once: receipts from these seconds may not reach the disk.
    await car.pass(11);
    await car.cut();
    told.push(await car.tell());
    await car.pass(45);
  }
  await http.close();
  await socket.close();
  told.push(await car.tell());
  await car.pass(25);
  await car.cut();
  await http.open();
  await socket.open();
  await car.pass(130);

  expect([...car.callbacks.waiting.values()]).toEqual([0, 0, 0, 0]);
  const frames = socket.frames.map(({ id }) => id);
  const pushed = push.pushed.map(({ payload }) => (JSON.parse(payload) as { id: string }).id);
  const lists = { f1: taken['/events/fleet'], a1: taken['/events'], b1: frames, c1: pushed };
  // A repeated delivery has the same id, so only the first delivery of each id counts.
  for (const [monitor, ids = []] of Object.entries(lists)) {
    expect([...new Set(ids)], monitor).toEqual(told.map((id) => `${id}-${monitor}`));
  }
  const messages = new Map<string, string>();
  for (const { id, message } of socket.frames) {
    expect(messages.get(id) ?? JSON.stringify(message)).toBe(JSON.stringify(message));
    messages.set(id, JSON.stringify(message));
  }
  expect(push.faults).toEqual([]);
  expect(other.received).toEqual([]);
  const contents = http.received.flatMap(({ url, body }) => (url === '/events' ? [JSON.parse(body)].flat() : []));
  for (const content of contents) {
    expect(content).toMatchObject({
      callbackId: app,
      type: 'Monitor',
      monitorEvent: { monitorId: 'a1', refresh: false },
    });
  }
  const literal = (content: { monitorEvent: { values: { value: { body: { literalValue: string } } }[] } }) =>
    content.monitorEvent.values[0]?.value.body.literalValue;
  expect(new Set(contents.map(literal))).toEqual(new Set(told));
  await car.stop();
});

test('when its last device unsubscribes, a callback and its monitors are removed, also after a restart', async () => {
  const car = new Car('one');
  await car.start();
  const device = deviceText(push.subscribe('tablet'));
  const { callbackId } = car.callbacks.add('user', { callback: { pushnotif: { devices: [device] } } });
  car.monitor('d1', { subscribeParam: { callbackId } });
  await car.tell();
  await car.pass(1);
  expect(push.pushed.filter(({ device: name }) => name === 'tablet')).toHaveLength(1);
  push.unsubscribe('tablet');
  await car.tell();
  await car.pass(1);
  expect(car.callbacks.list()).toEqual([]);
  expect(car.monitors.size).toBe(0);
  await car.restart();
  expect(car.callbacks.list()).toEqual([]);
  await car.stop();
});
