/** Plain topics of all cars of a hub, on any database and broker, at a real Mosquitto. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import type { ExitsConfiguration } from '../../config/exits.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { openRegistry } from '../../hub/start/registry.ts';
import { defined } from '../../protocol/defined.ts';
import type { Scope } from '../../protocol/interface/operations/scopes.ts';
import type { ExitsReport } from '../../protocol/interface/own/exits.ts';
import type { Body, BodyKind } from '../../protocol/schema/message.ts';
import { presenceTopic, upTopic } from '../../protocol/topics.ts';
import { discoveryFaults } from '../adapters/exits/discovery-checker.ts';
import { DrivingCar } from '../hub/driving-car.ts';
import { NOON, OTHER, payloadOf } from '../hub/messages.ts';
import { MemoryLog } from '../rig/log.ts';
import { MosquittoRig } from '../rig/mosquitto.ts';
import { Topics } from '../rig/topics.ts';

const CAR = 'VF3VGEHVBT0000001';
const PREFIX = 'fleet/cars';
const SCOPES: readonly Scope[] = ['data:telemetry', 'data:position', 'remote:door:write'];
const discovery = (vin: string): string => `homeassistant/device/vigie_${vin}/config`;

/** Database and broker of the hub. If omitted, SQLite and the embedded broker. */
export type TopicsHub = Pick<HubOptions, 'database' | 'broker'>;

export function hubTopicsContract(name: string, make: () => Promise<TopicsHub>): void {
  describe(`the topics of a hub on ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-topics-'));
    const receiver = new MosquittoRig();
    const log = new MemoryLog();
    let place: TopicsHub;
    let hub: Hub;
    let car: DrivingCar;
    let client: MqttClient;
    let topics: Topics;
    let seq = 0;

    async function start(scopes: readonly Scope[], homeAssistant?: ExitsConfiguration['homeAssistant']): Promise<void> {
      const exits: ExitsConfiguration = {
        ...{
          mqtt: { url: receiver.url, protocol: 'auto' },
          prefix: PREFIX,
          form: 'value',
          retain: true,
          interval: 100,
        },
        ...{ scopes: new Set(scopes), ...defined({ homeAssistant }) },
      };
      const options = {
        data: join(folder, 'hub'),
        port: Number(new URL(hub?.broker ?? 'mqtt://x:0').port),
        http: 0,
        log,
      };
      hub = await startHub({ ...options, ...place, exits, clock: new SystemClock() });
    }

    /** Sends a message as a car does. */
    async function send<K extends BodyKind>(kind: K, body: Body<K>): Promise<void> {
      const sender = await connectAsync(hub.broker, { clientId: OTHER });
      const payload = Buffer.from(payloadOf(kind, body, { seq: seq++ }));
      await sender.publishAsync(upTopic(OTHER, kind), payload, { qos: 1 });
      await sender.endAsync();
    }

    const statusWith = (privacy: string): Body<'status'> =>
      ({
        full: true,
        status: {
          kinetic: { createdAt: NOON, speed: 50 },
          privacy: { createdAt: NOON + seq, state: privacy },
          lastPosition: {
            ...{ type: 'Feature', geometry: { type: 'Point', coordinates: [2.5, 48.5, 35] } },
            properties: { createdAt: NOON },
          },
        },
      }) as never;

    /** Topics of the car that the broker retains. Messages of one subscription arrive in the order of topics' age. */
    async function retainedOf(vin: string): Promise<readonly string[]> {
      const program = await connectAsync(receiver.url);
      const seen: string[] = [];
      const end = new Promise<void>((resolve) => {
        program.on('message', (topic, payload, { retain }) => {
          if (topic === 'end') resolve();
          else if (retain && payload.length > 0 && topic.includes(vin)) seen.push(topic);
        });
      });
      await program.subscribeAsync('#', { qos: 1 });
      await program.publishAsync('end', 'end', { qos: 1 });
      await end;
      await program.endAsync();
      return seen.sort();
    }

    /** Resolves when the broker retains no topic of the car: the marker goes last. */
    async function untilGone(vin: string): Promise<void> {
      const marker = [...topics.last.keys()].find((topic) => topic.includes('/cars/') && topic.endsWith(vin)) ?? '';
      expect(marker).not.toBe('');
      await topics.until(marker, (text) => text === '');
      expect(await retainedOf(vin)).toEqual([]);
    }

    async function watch(): Promise<void> {
      await client?.endAsync(true);
      client = await connectAsync(receiver.url, { clientId: 'watcher' });
      topics = new Topics(client);
      await client.subscribeAsync('#', { qos: 1 });
    }

    beforeAll(async () => {
      place = await make();
      await receiver.start();
      await watch();
      await start(SCOPES, { language: 'de', prefix: 'homeassistant' });
      car = new DrivingCar({ vin: CAR, url: hub.broker, scenario: 'parked', trust: hub.trust, machineTime: true });
      await car.start();
      await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'vehicle'));
    }, 60_000);
    afterAll(async () => {
      await car.remove();
      await hub.stop();
      await client.endAsync();
      await receiver.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    test('a real car appears with its values, its presence and its description for Home Assistant', async () => {
      expect(Number(await car.during(topics.until(`${PREFIX}/${CAR}/odometer/mileage`)))).toBeGreaterThan(0);
      expect(await car.during(topics.until(`${PREFIX}/${CAR}/presence`))).toBe('online');
      const text = await car.during(
        topics.until(discovery(CAR), (one) => one.includes('Kilometerstand') && one.includes('"lock"')),
      );
      expect(discoveryFaults(discovery(CAR), text)).toEqual([]);
      const { availability, availability_mode, components } = JSON.parse(text);
      expect(availability_mode).toBe('all');
      for (const { topic } of availability) expect(topics.last.get(topic)).toBe('online');
      expect(availability).toHaveLength(2);
      // Only scopes allow commands.
      expect(JSON.stringify(components)).not.toContain('set/horn');
    });

    test('a command on a topic becomes a signed command in the audit trail, and the car carries it out', async () => {
      await client.publishAsync(`${PREFIX}/${CAR}/set/doors`, 'lock', { qos: 1 });
      const outcome = await car.during(topics.until(`${PREFIX}/${CAR}/command`, (text) => text.includes('"Success"')));
      expect(JSON.parse(outcome)).toMatchObject({ type: 'Doors', status: 'Success' });
      const trail = await car.during(fetch(`${hub.interface.url}/vigie/v1/vehicles/${CAR}/remotes`));
      const { remotes } = (await trail.json()) as { remotes: readonly object[] };
      expect(remotes).toMatchObject([{ type: 'Doors', requestedBy: 'exits.mqtt', status: 'Success' }]);
      expect(car.status.doorsState?.lockedStates).toContain('Locked');
    });

    test('commands without scope and retained ones are refused with the reason, others are only logged', async () => {
      const refused = async (verb: string, word: string, retain: boolean, reason: string): Promise<void> => {
        await client.publishAsync(`${PREFIX}/${CAR}/set/${verb}`, word, { qos: 1, retain });
        const text = await car.during(topics.until(`${PREFIX}/${CAR}/command`, (one) => one.includes(reason)));
        expect(JSON.parse(text)).toMatchObject({ verb, word, status: 'Failed' });
      };
      await refused('horn', 'on', false, 'exits.scopes does not allow Horn');
      await client.publishAsync(`${PREFIX}/VF3VGEHVBT0000009/set/doors`, 'lock', { qos: 1 });
      await refused('doors', 'open', false, 'doors takes');
      expect(JSON.stringify(log.lines)).toContain('VF3VGEHVBT0000009');
      expect(await retainedOf('VF3VGEHVBT0000009')).toEqual([]);
    });

    test('a position that the driver hides empties its topics, and a car that was renamed is described again', async () => {
      await send('status', statusWith('None'));
      expect(await topics.until(`${PREFIX}/${OTHER}/lastPosition/latitude`)).toBe('48.5');
      expect(await topics.until(`${PREFIX}/${OTHER}/position`)).toContain('48.5');
      await send('status', statusWith('Geolocation'));
      await topics.until(`${PREFIX}/${OTHER}/lastPosition/latitude`, (text) => text === '');
      await topics.until(`${PREFIX}/${OTHER}/position`, (text) => text === '{}');
      expect(topics.last.get(`${PREFIX}/${OTHER}/kinetic/speed`)).toBe('50');
      expect(JSON.parse(topics.last.get(discovery(OTHER)) ?? '').device.name).toBe(OTHER);
      await send('vehicle', {
        ...{ createdAt: NOON, motorization: 'Electric', label: 'Postbus' },
        ...{ data: [], actions: [], commands: false },
      });
      const text = await topics.until(discovery(OTHER), (one) => one.includes('Postbus'));
      expect(JSON.parse(text).device).toMatchObject({ name: 'Postbus 000002', serial_number: OTHER });
      // The car accepts no commands.
      expect(text).not.toContain('set/doors');
    });

    test('the presence of a car is that of its own connection', async () => {
      const sender = await connectAsync(hub.broker, { clientId: OTHER });
      for (const presence of ['asleep', 'nonsense', 'offline']) {
        await sender.publishAsync(presenceTopic(OTHER), presence, { qos: 1, retain: true });
        if (presence !== 'nonsense') await topics.until(`${PREFIX}/${OTHER}/presence`, (text) => text === presence);
      }
      await sender.endAsync();
    });

    test('an outage of the receiver is shown, and afterwards everything is there again', async () => {
      const report = async (state: string): Promise<ExitsReport['exits'][number]> => {
        for (;;) {
          const response = await fetch(`${hub.interface.url}/vigie/v1/exits`);
          const { exits } = (await response.json()) as ExitsReport;
          const [exit] = exits;
          if (exit?.state === state) return exit;
        }
      };
      expect(await report('running')).toMatchObject({ name: 'topics', kind: 'topics', waiting: 0, lost: 0 });
      await receiver.kill();
      expect((await report('waiting')).error).toBeDefined();
      await send('status', statusWith('None'));
      await receiver.start();
      await watch();
      for (const topic of ['presence', 'kinetic/speed', 'position']) await topics.until(`${PREFIX}/${OTHER}/${topic}`);
      await car.during(topics.until(`${PREFIX}/${CAR}/odometer/mileage`));
      await car.during(topics.until(discovery(CAR)));
      await report('running');
    });

    test('a receiver that hangs delays no message of a car, and gets the newest values when it goes on', async () => {
      await topics.until(`${PREFIX}/${OTHER}/privacy/state`, (text) => text === 'None');
      receiver.hang();
      // Resolves when the hub has stored the message.
      for (const privacy of ['Geolocation', 'None', 'Geolocation']) await send('status', statusWith(privacy));
      receiver.resume();
      await topics.until(`${PREFIX}/${OTHER}/privacy/state`, (text) => text === 'Geolocation');
      await topics.until(`${PREFIX}/${OTHER}/position`, (text) => text === '{}');
    });

    test('topics and descriptions of a car go when it is forgotten, also while the exit was down', async () => {
      const registry = await openRegistry({ data: join(folder, 'hub'), ...defined({ database: place.database }) }, log);
      await client.publishAsync(`${PREFIX}/${OTHER}/set/doors`, 'lock', { qos: 1, retain: true });
      await registry.registry.forget(OTHER, Date.now());
      await untilGone(OTHER);
      expect(await retainedOf(CAR)).not.toEqual([]);
      await car.stop();
      await hub.stop();
      expect(
        topics.last.get(
          [...topics.last.keys()].find((topic) => topic.includes('/hub/') && topic.endsWith('/presence')) ?? '',
        ),
      ).toBe('offline');
      expect((await retainedOf(CAR)).length).toBeGreaterThan(10);
      await registry.registry.forget(CAR, Date.now());
      await registry.close();
      await start(SCOPES, { language: 'de', prefix: 'homeassistant' });
      await untilGone(CAR);
    });

    test('Home Assistant loses the entities of removed scopes, and all devices without its section', async () => {
      const vin = 'VF3VGEHVBT0000003';
      const sender = await connectAsync(hub.broker, { clientId: vin });
      await sender.publishAsync(upTopic(vin, 'status'), Buffer.from(payloadOf('status', statusWith('None'))), {
        qos: 1,
      });
      await sender.endAsync();
      await topics.until(discovery(vin), (text) => text.includes('"platform":"device_tracker"'));
      await hub.stop();
      topics.last.delete(discovery(vin));
      await start(['data:telemetry'], { language: 'de', prefix: 'homeassistant' });
      const text = await topics.until(discovery(vin));
      expect(discoveryFaults(discovery(vin), text)).toEqual([]);
      expect(JSON.parse(text).components.position).toEqual({ platform: 'device_tracker' });
      await hub.stop();
      await start(['data:telemetry']);
      expect(await topics.until(discovery(vin), (one) => one === '')).toBe('');
      await topics.until(`${PREFIX}/${vin}/kinetic/speed`, (one) => one === '50');
    });

    test('topics of a car go when the registry removes it, and come again with the car', async () => {
      const vin = 'VF3VGEHVBT0000003';
      const open = await openRegistry({ data: join(folder, 'hub'), ...defined({ database: place.database }) }, log);
      await open.registry.add(vin, [{ kind: 'fleet', id: 'north' }], Date.now());
      await open.registry.remove(vin, Date.now());
      await untilGone(vin);
      await open.registry.add(vin, [], Date.now());
      await topics.until(`${PREFIX}/${vin}/kinetic/speed`, (text) => text === '50');
      await open.close();
    });
  });
}
