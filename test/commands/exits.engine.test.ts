/** `exits` of vigie.yaml: a car on a real Mosquitto, seen and commanded by a program that knows only plain topics. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExitsReport } from '../../protocol/interface/own/exits.ts';
import { discoveryFaults } from '../adapters/exits/discovery-checker.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { MosquittoRig } from '../rig/mosquitto.ts';
import { describePeer } from '../rig/peers.ts';
import { Topics } from '../rig/topics.ts';

const VIN = 'VF30A00000B000042';
const PREFIX = `home/cars/${VIN}`;

describePeer('mosquitto', 'a car with exits', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-exits-'));
  const broker = new MosquittoRig();
  let car: VigieProcess;
  let client: MqttClient;
  let topics: Topics;

  const configure = (homeAssistant: string, scopes: readonly string[]): void =>
    writeFileSync(
      join(folder, 'vigie.yaml'),
      `configuration: 1
vin: ${VIN}
profile: bench
data: ${join(folder, 'data')}
can: [{ bus: body, simulated: true }]
mqtt: { url: mqtt://127.0.0.1:1 }
commands: { trust: ${join(folder, 'keys/trust.json')} }
monitors:
  - monitorId: driven
    monitor:
      label: Driven
      triggerParam:
        triggers: [{ name: far, data: { data: vehicle.odometer, op: greaterThan, value: ['1'] } }]
        boolExp: far
exits:
  mqtt: { url: '${broker.url}' }
  prefix: home/cars
  scopes: [${scopes.join(', ')}]
  ${homeAssistant}
`,
    );
  const start = (): VigieProcess => new VigieProcess(['run', '--config', join(folder, 'vigie.yaml')]);

  beforeAll(async () => {
    await broker.start();
    expect((await vigie('keys', 'make', 'cloud', '--dir', join(folder, 'keys'))).status).toBe(0);
    configure('homeAssistant: { language: de }', [
      'data:telemetry',
      'data:position',
      'data:alert',
      'remote:door:write',
    ]);
    client = await connectAsync(broker.url, { clientId: 'watcher' });
    topics = new Topics(client);
    await client.subscribeAsync('#', { qos: 1 });
    car = start();
  }, 60_000);
  afterAll(async () => {
    await car.end('SIGTERM');
    await client.endAsync();
    await broker.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('its values, its presence and its description for Home Assistant arrive', async () => {
    expect(await topics.until(`${PREFIX}/presence`)).toBe('online');
    expect(Number(await topics.until(`${PREFIX}/odometer/mileage`))).toBeGreaterThan(0);
    const topic = `homeassistant/device/vigie_${VIN}/config`;
    const text = await topics.until(topic);
    expect(discoveryFaults(topic, text)).toEqual([]);
    expect(text).toContain('Kilometerstand');
  });

  test('events of monitors arrive', async () => {
    const event = JSON.parse(await topics.until(`${PREFIX}/events`));
    expect(event).toMatchObject({
      event_type: 'event',
      number: expect.any(Number),
      event: { monitorId: 'driven', values: [{ data: 'vehicle.odometer', literal: expect.any(String) }] },
    });
  });

  test('vigie status has a line for each exit', async () => {
    const { stdout } = await vigie('status', '--data', join(folder, 'data'), '--format', 'text');
    expect(stdout).toMatch(/^exits:\n {2}topics +running, \d+ waiting, last [\d.]+ s ago\n {2}records +running/m);
  });

  test('a lock that is pressed in home automation locks the car, and shows the state that the car reports', async () => {
    const unlocked = (text: string): boolean => !text.split(',').includes('Locked');
    const state = `${PREFIX}/doorsState/lockedStates`;
    const wanted = unlocked(await topics.until(state)) ? 'lock' : 'unlock';
    await client.publishAsync(`${PREFIX}/set/doors`, wanted, { qos: 1 });
    await topics.until(state, (text) => unlocked(text) === (wanted === 'unlock'));
    const outcome = await topics.until(`${PREFIX}/command`, (text) => text.includes('"Success"'));
    expect(JSON.parse(outcome)).toMatchObject({ type: 'Doors', status: 'Success' });
  });

  test('a command without its scope is refused with the reason, and a retained one too', async () => {
    await client.publishAsync(`${PREFIX}/set/horn`, 'on', { qos: 1 });
    const outcome = await topics.until(`${PREFIX}/command`, (text) => text.includes('"horn"'));
    expect(JSON.parse(outcome)).toMatchObject({
      status: 'Failed',
      detail: 'exits.scopes does not allow Horn',
    });
    await car.end('SIGTERM');
    expect(await topics.until(`${PREFIX}/presence`, (text) => text === 'offline')).toBe('offline');
    // Both wait at the broker while the car is away: one retained, one for its session.
    await client.publishAsync(`${PREFIX}/set/doors`, 'unlock', { qos: 1, retain: true });
    await client.publishAsync(`${PREFIX}/set/doors`, 'lock', { qos: 1 });
    car = start();
    await topics.until(`${PREFIX}/command`, (text) => text.includes('retained'));
    expect(car.output).toContain('exit.commandRefused');
    expect(topics.last.get(`${PREFIX}/command`)).toContain('"unlock"');
    await client.publishAsync(`${PREFIX}/set/doors`, '', { qos: 1, retain: true });
  });

  test('after an outage of the broker the car is back with its values', async () => {
    await broker.stop();
    await broker.start();
    topics.last.clear();
    await client.subscribeAsync('#', { qos: 1 });
    await topics.until(`${PREFIX}/presence`, (text) => text === 'online');
    await topics.until(`${PREFIX}/odometer/mileage`);
  });

  test('Home Assistant loses the entities of removed scopes, and the device without its section', async () => {
    const topic = `homeassistant/device/vigie_${VIN}/config`;
    const restart = async (): Promise<void> => {
      await car.end('SIGTERM');
      topics.last.delete(topic);
      car = start();
    };
    configure('homeAssistant: { language: de }', ['data:telemetry']);
    await restart();
    const text = await topics.until(topic);
    expect(discoveryFaults(topic, text)).toEqual([]);
    const { components } = JSON.parse(text);
    expect(components).toMatchObject({ position: { platform: 'device_tracker' }, control_doors: { platform: 'lock' } });
    expect(Object.keys(components.position)).toEqual(['platform']);
    expect(Object.keys(components.control_doors)).toEqual(['platform']);
    configure('', ['data:telemetry']);
    await restart();
    expect(await topics.until(topic)).toBe('');
  });

  test('a bench with --home-assistant is read and commanded by programs of Mosquitto at its own broker', async () => {
    const data = join(folder, 'bench');
    const bench = new VigieProcess(['bench', '--home-assistant', '--data', data, '--port', '0', '--http', '0']);
    try {
      await bench.says('Ctrl-C ends the bench.');
      const [, port = ''] = /ready: \S+ on mqtt:\/\/127\.0\.0\.1:(\d+)/.exec(bench.output) ?? [];
      const sub = (...args: readonly string[]): string =>
        spawnSync('mosquitto_sub', ['-p', port, '-W', '60', ...args], { encoding: 'utf8' }).stdout;
      const topic = 'homeassistant/device/vigie_VF3VGEBENCH000001/config';
      expect(discoveryFaults(topic, sub('-t', topic, '-C', '1'))).toEqual([]);
      expect(sub('-t', 'vigie/plain/#', '-v', '-C', '5')).toContain('vigie/plain/VF3VGEBENCH000001/');
      const http = /http:\/\/127\.0\.0\.1:\d+/.exec(bench.output)?.[0] ?? '';
      const { exits } = (await (await fetch(`${http}/vigie/v1/exits`)).json()) as ExitsReport;
      expect(exits.map(({ name, kind, state }) => [name, kind, state])).toEqual([
        ['topics', 'topics', 'running'],
        ['records', 'topics', 'running'],
      ]);
      const tried = await fetch(`${http}/vigie/v1/exits/topics/test`, { method: 'POST' });
      expect(await tried.json()).toMatchObject({ succeeded: true });
      const from = bench.output.length;
      expect(
        spawnSync('mosquitto_pub', ['-p', port, '-t', 'vigie/plain/VF3VGEBENCH000001/set/horn', '-m', 'on']).status,
      ).toBe(0);
      await bench.says('command Horn: Success', from);
    } finally {
      await bench.end('SIGINT');
    }
  });
});
