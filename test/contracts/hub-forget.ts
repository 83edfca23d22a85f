/** Clears retained messages of a forgotten car from the broker, including those that the car sends later. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import type { Registry } from '../../hub/core/registry.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { openRegistry } from '../../hub/start/registry.ts';
import { classOf } from '../../protocol/classes.ts';
import { defined } from '../../protocol/defined.ts';
import { catalogTopic, downTopic, presenceTopic, upTopic } from '../../protocol/topics.ts';
import { NOON, ONE, OTHER, payloadOf, trip } from '../hub/messages.ts';
import type { BrokerRig } from '../rig/broker.ts';
import { type Observed, Observer } from '../rig/car.ts';
import { MemoryLog } from '../rig/log.ts';

export interface ForgettingHub {
  /** URL of PostgreSQL. If omitted, SQLite is used. */
  readonly database?: string;
  /** If omitted, the embedded broker is used. */
  readonly broker?: BrokerRig;
  /** Removes everything that was made for one test. */
  readonly remove?: () => Promise<void>;
}

let markers = 0;

const statusOf = (speed: number, seq: number): Buffer =>
  Buffer.from(
    payloadOf('status', { full: true, status: { kinetic: { createdAt: NOON, speed } } } as never, { seq, at: NOON }),
  );

/**
 * Retains a message on every topic that a car or its operator's programs use. The hub does not subscribe to `down`, so
 * that comes first: a later message on a subscribed topic tells the hub that there is something to clear.
 */
async function retain(url: string, vin: string): Promise<void> {
  const car = await Observer.connect(url, 4);
  const retained: readonly (readonly [string, string | Buffer])[] = [
    [downTopic(vin, 'config'), 'of another program'],
    [upTopic(vin, 'hello'), 'of another program'],
    [presenceTopic(vin), 'online'],
    [upTopic(vin, 'status'), statusOf(7, 0)],
    [upTopic(vin, 'monitor'), Buffer.from(payloadOf('monitor', { version: 1, monitors: [] }))],
    [
      catalogTopic(vin, '07'.repeat(8), 0),
      Buffer.from(payloadOf('catalog', { catalog: new Uint8Array(8).fill(7), part: 0, parts: 1, entries: [] })),
    ],
  ];
  for (const [topic, payload] of retained) await car.client.publishAsync(topic, payload, { qos: 1, retain: true });
  await car.close();
}

/**
 * An observer of the topics of the car, and the set of topics that the broker retains. Brokers send the newest retained
 * message last within one subscription.
 */
async function observe(url: string, vin: string): Promise<{ observer: Observer; retained: Set<string> }> {
  const observer = await Observer.connect(url, 4);
  const marker = `test/marker-${++markers}`;
  await observer.client.publishAsync(marker, 'end', { qos: 1, retain: true });
  await observer.client.subscribeAsync([`vigie/1/${vin}/#`, marker], { qos: 1 });
  await observer.seen.take(({ topic }) => topic === marker);
  const retained = new Set<string>();
  const end = observer.seen.all.findIndex(({ topic }) => topic === marker);
  for (const seen of observer.seen.all.slice(0, end)) follow(retained, seen);
  return { observer, retained };
}

/** An empty message clears its topic. */
function follow(retained: Set<string>, { topic, payload }: Observed): void {
  if (payload === '') retained.delete(topic);
  else retained.add(topic);
}

/** Retained topics of the car, without its VIN, in alphabetical order. */
async function retainedOf(url: string, vin: string): Promise<readonly string[]> {
  const { observer, retained } = await observe(url, vin);
  await observer.close();
  return [...retained].map((topic) => topic.slice(`vigie/1/${vin}/`.length)).sort();
}

/** Resolves when the broker retains nothing of the car. */
async function untilClear(url: string, vin: string): Promise<void> {
  const { observer, retained } = await observe(url, vin);
  while (retained.size > 0) follow(retained, await observer.seen.take());
  await observer.close();
}

export function hubForgetContract(name: string, make: () => Promise<ForgettingHub>): void {
  describe(`a hub with ${name} forgets a car`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-forget-'));
    const hubs: Hub[] = [];
    let made = 0;
    let data: string;
    let place: ForgettingHub;

    beforeEach(async () => {
      data = join(folder, String(++made));
      place = await make();
    });
    afterEach(async () => {
      for (const hub of hubs.splice(0)) await hub.stop();
      await place.remove?.();
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    /** A new `group` starts with a new session. */
    async function start(group = `forget-${made}`): Promise<Hub> {
      const { database, broker } = place;
      const options: HubOptions = {
        data,
        ...defined({ database }),
        ...(broker === undefined ? {} : { broker: { address: { url: broker.url }, group, receiveMaximum: 100 } }),
        port: 0,
        http: 0,
        clock: new SystemClock(),
        log: new MemoryLog(),
      };
      const hub = await startHub(options);
      hubs.push(hub);
      return hub;
    }
    async function stop(hub: Hub): Promise<void> {
      hubs.splice(hubs.indexOf(hub), 1);
      await hub.stop();
    }
    /** Changes the registry like `vigie hub forget` and `vigie hub add`, from another process. */
    async function withRegistry(work: (registry: Registry) => Promise<void>): Promise<void> {
      const { database } = place;
      const open = await openRegistry({ data, ...defined({ database }) }, new MemoryLog());
      await work(open.registry);
      await open.close();
    }
    const forget = (vin: string) =>
      withRegistry(async (registry) => expect(await registry.forget(vin, Date.now())).toBe(true));
    const add = (vin: string) =>
      withRegistry((registry) => registry.add(vin, [{ kind: 'fleet', id: 'north' }], Date.now()));
    const known = async (hub: Hub) => (await hub.store.vehicles()).map(({ vin }) => vin);
    const until = async (holds: () => Promise<boolean>): Promise<void> => {
      while (!(await holds())) await new Promise(setImmediate);
    };
    const untilKnown = (hub: Hub, vin: string) => until(async () => (await known(hub)).includes(vin));

    test('retained messages of a forgotten car are cleared, including later ones, until the car is added again', {
      timeout: 180_000,
    }, async () => {
      const hub = await start();
      const url = hub.broker;
      await retain(url, OTHER);
      await retain(url, ONE);
      await untilKnown(hub, ONE);
      const all = await retainedOf(url, ONE);
      expect(all).toHaveLength(6);
      await forget(ONE);
      await untilClear(url, ONE);
      expect(await retainedOf(url, OTHER)).toEqual(all);
      // The car does not know that it was forgotten. The broker acknowledges everything, and the hub stores nothing.
      await retain(url, ONE);
      await untilClear(url, ONE);
      expect(await known(hub)).toEqual([OTHER]);
      // While it clears the car, a hub would also clear what a car that was added retains.
      await withRegistry((registry) => until(async () => (await registry.erasures()).length === 0));
      await add(ONE);
      await add(OTHER);
      // With a registry, a client needs credentials at the embedded broker.
      if (place.broker === undefined) return;
      await retain(url, ONE);
      await untilKnown(hub, ONE);
      expect(await retainedOf(url, ONE)).toEqual(all);
    });

    test('retained messages of a car forgotten while the hub was stopped are cleared, even by a new session', {
      timeout: 180_000,
    }, async () => {
      const first = await start();
      await retain(first.broker, ONE);
      await untilKnown(first, ONE);
      await stop(first);
      await forget(ONE);
      const second = await start(`fresh-${made}`);
      const vin = 'VF3VGEHVBF0000009';
      await retain(second.broker, vin);
      await untilKnown(second, vin);
      await untilClear(second.broker, ONE);
      expect(await known(second)).toEqual([vin]);
    });

    test('retained messages of a car forgotten while the broker was away are cleared', {
      timeout: 180_000,
    }, async () => {
      const { broker } = place;
      if (broker === undefined) return;
      const hub = await start();
      await retain(broker.url, ONE);
      await untilKnown(hub, ONE);
      await broker.stop();
      await forget(ONE);
      await broker.start();
      await untilClear(broker.url, ONE);
      expect(await known(hub)).toEqual([]);
    });

    test('a hub with a new session counts no car as heard because of retained messages alone', async () => {
      if (place.broker === undefined) return;
      const first = await start();
      const { broker } = place;
      await retain(broker.url, ONE);
      const car = await Observer.connect(broker.url, 4);
      const marker = payloadOf('trip', trip('1a57'), { vin: ONE, seq: 0 });
      await car.client.publishAsync(upTopic(ONE, 'trip'), Buffer.from(marker), { qos: 1 });
      // The hub commits in the order of arrival: once it has the trip, it has everything that the broker retains.
      await until(
        async () => (await first.store.numbers(ONE))?.some(({ class: one }) => one === classOf('trip')) === true,
      );
      const before = await first.store.vehicles();
      await stop(first);
      // The first is already stored. The second arrived meanwhile, in a session that was lost.
      await car.client.publishAsync(upTopic(ONE, 'status'), statusOf(9, 1), { qos: 1, retain: true });
      await car.close();
      const second = await start(`unheard-${made}`);
      await until(
        async () => (await second.store.numbers(ONE))?.some(({ arrived }) => arrived.at(-1)?.[1] === 1) === true,
      );
      expect(await second.store.vehicles()).toEqual(before);
    });
  });
}
