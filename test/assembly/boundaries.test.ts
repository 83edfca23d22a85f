/**
 * Random faults behind every input of a hub and of a car, while clients connect, leave and send garbage: each fault
 * ends only its request or connection. A fault that crosses its boundary ends this run as an unhandled error.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { LiveChanges } from '../../adapters/http/live.ts';
import { EmbeddedBroker } from '../../adapters/mqtt/index.ts';
import { Downlink } from '../../agent/downlink.ts';
import { StatusRecorder } from '../../agent/recorders/status.ts';
import { TelemetryRecorder } from '../../agent/recorders/telemetry.ts';
import { WaypointRecorder } from '../../agent/recorders/waypoint.ts';
import { HubCommands } from '../../hub/core/commands.ts';
import { Intake } from '../../hub/core/intake.ts';
import { LiveFeed } from '../../hub/core/live.ts';
import { RegistryStates } from '../../hub/core/registry-state.ts';
import { SqlOverview } from '../../hub/database/overview-queries.ts';
import { SqlReader } from '../../hub/database/queries.ts';
import { SqlRegistry } from '../../hub/database/registry.ts';
import { startHub } from '../../hub/start/hub.ts';
import { downTopic, upTopic } from '../../protocol/topics.ts';
import { payloadOf, trip } from '../hub/messages.ts';
import { Observer } from '../rig/car.ts';
import { Faults } from '../rig/faults.ts';
import { InterfaceBench, VIN } from '../rig/interface.ts';
import { MemoryLog } from '../rig/log.ts';
import { MqttClient } from '../rig/mqtt-client.ts';
import { runs } from '../rig/runs.ts';
import '../rig/seed.ts';

/** Action of a client, and when it leaves. */
const step = fc.record({
  kind: fc.nat(9),
  path: fc.nat(99),
  leaves: fc.constantFrom('at once', 'after the head', 'with the answer', 'never'),
  bytes: fc.uint8Array({ maxLength: 60 }),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Resolves when the connection is closed, or when the answer has begun if the client stays. */
function ask(url: string, path: string, { leaves }: Step): Promise<void> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
    socket.once('connect', () => {
      if (leaves === 'at once') socket.destroy();
      else socket.write(head, () => void (leaves === 'after the head' && socket.destroy()));
    });
    // A stream would never end.
    socket.once('data', () => void (leaves === 'with the answer' ? socket.resetAndDestroy() : socket.end()));
    socket.resume();
  });
}

/** Sends bytes on a separate connection, which the client may close early. */
function send(url: string, bytes: Uint8Array, { leaves }: Step): Promise<void> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
    socket.once('connect', () =>
      socket.write(bytes, () => void (leaves === 'never' ? socket.end() : socket.destroy())),
    );
    socket.resume();
  });
}

/** Runs clients at the same time while the classes fail at random. */
function actUnder(faults: Faults, act: (step: Step) => Promise<void>): Promise<void> {
  return fc.assert(
    fc.asyncProperty(fc.integer(), fc.array(step, { minLength: 4, maxLength: 12 }), async (seed, steps) => {
      faults.seed(seed);
      faults.active = true;
      await Promise.all(steps.map(act));
      faults.active = false;
    }),
    { numRuns: runs(25, 200) },
  );
}

const HUB_PATHS = [
  '/vigie/v1/vehicles',
  `/vigie/v1/vehicles/${VIN}/values`,
  '/vigie/v1/events',
  '/vigie/v1/live',
  `/vigie/v1/vehicles/${VIN}/live`,
  `/vigie/v1/vehicles/${VIN}/numbers`,
  '/connectedcar/v4/user/vehicles',
  '/fleets',
  '/docs',
];

/** CONNECT packet of MQTT 3.1.1. */
const CONNECT = Uint8Array.of(0x10, 15, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 3, 0x63, 0x61, 0x72);

test('a hub with random faults in its parts serves again once they stop, over broker, interface and enrolment', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  onTestFinished(() => printed.mockRestore());
  const data = mkdtempSync(join(tmpdir(), 'vigie-boundaries-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const faults = new Faults(
    [SqlReader, SqlOverview, SqlRegistry, RegistryStates, Intake, HubCommands, LiveFeed],
    [
      // `stop` is not an input.
      'stop',
      'settled',
      'close',
      'end',
    ],
  );
  const log = new MemoryLog();
  const hub = await startHub({ data, port: 0, http: 0, metrics: 0, clock: new SystemClock(), log });
  const secured = mkdtempSync(join(tmpdir(), 'vigie-boundaries-'));
  onTestFinished(() => rmSync(secured, { recursive: true, force: true }));
  const secure = { names: ['127.0.0.1'], enrolment: 0 };
  const enrolling = await startHub({ data: secured, port: 0, http: 0, secure, clock: new SystemClock(), log });
  const enrol = (one: Step): Promise<number | undefined> =>
    new Promise((resolve) => {
      const { leaves, bytes } = one;
      const path = `/.well-known/est/${one.path % 2 === 0 ? 'simpleenroll' : 'cacerts'}`;
      const method = one.path % 2 === 0 ? 'POST' : 'GET';
      const options = { port: enrolling.enrolment, host: '127.0.0.1', rejectUnauthorized: false, agent: false };
      const headers = { authorization: `Basic ${Buffer.from(`${VIN}:x`).toString('base64')}` };
      const asking = request({ ...options, method, path, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asking.once('error', () => resolve(undefined));
      asking.once('close', () => resolve(undefined));
      if (method === 'POST') asking.write(Buffer.alloc(bytes.length * 1_000, bytes));
      if (leaves === 'at once') asking.destroy();
      else if (leaves === 'after the head') asking.flushHeaders();
      if (leaves === 'after the head') setImmediate(() => asking.destroy());
      else asking.end();
    });
  let seq = 0;
  const act = async (one: Step): Promise<void> => {
    if (one.kind < 4) return ask(hub.interface.url, HUB_PATHS[one.path % HUB_PATHS.length] ?? '/', one);
    if (one.kind < 5) return ask(`http://${hub.metrics}`, one.path % 2 === 0 ? '/metrics' : '/health', one);
    if (one.kind < 6) return send(hub.broker, Buffer.concat([CONNECT, one.bytes]), one);
    if (one.kind < 8) return void (await enrol(one));
    const car = await MqttClient.connect(hub.broker, { clientId: `car ${seq}` }).catch(() => undefined);
    if (one.kind === 8) await car?.subscribe(`vigie/1/${VIN}/down/+`);
    await car?.publish(upTopic(VIN, 'trip'), payloadOf('trip', trip(`a${seq}`), { vin: VIN, seq: seq++ }));
    await car?.end();
  };
  await actUnder(faults, act);
  expect(faults.thrown).toBeGreaterThan(50);
  const car = await MqttClient.connect(hub.broker, { clientId: 'last' });
  const message = payloadOf('trip', trip('1a57'), { vin: VIN, seq: seq++ });
  expect(await car.publish(upTopic(VIN, 'trip'), message)).toBe('acknowledged');
  await car.end();
  expect((await fetch(`${hub.interface.url}/vigie/v1/vehicles`)).status).toBe(200);
  expect((await fetch(`http://${hub.metrics}/health`)).status).toBe(200);
  expect(await enrol({ kind: 6, path: 1, leaves: 'never', bytes: new Uint8Array() })).toBe(200);
  await Promise.all([hub.stop(), enrolling.stop()]);
});

const CAR_PATHS = ['/live', '/connectedcar/v4/live', '/vigie/v1/bus', '/fleets', '/connectedcar/v4/user/vehicles'];

test('a car with random faults in recorders, downlink and streams records and publishes again', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  onTestFinished(() => printed.mockRestore());
  const faults = new Faults([TelemetryRecorder, WaypointRecorder, StatusRecorder, LiveChanges, Downlink], ['close']);
  const broker = new EmbeddedBroker();
  const { url } = await broker.start();
  const bench = await InterfaceBench.start({ lived: false, broker: url });
  const observer = await Observer.connect(url, 4, [`vigie/1/${VIN}/up/+`]);
  const act = async (one: Step): Promise<void> => {
    if (one.kind < 5) return ask(bench.url, CAR_PATHS[one.path % CAR_PATHS.length] ?? '/', one);
    const kind = (['remote', 'monitor', 'callback', 'config', 'ack'] as const)[one.path % 5] ?? 'remote';
    await observer.send(downTopic(VIN, kind), Buffer.from(one.bytes));
  };
  await actUnder(faults, act);
  expect(faults.thrown).toBeGreaterThan(10);
  expect((await bench.ask('GET', '/fleets')).status).toBe(200);
  const before = observer.seen.all.length;
  bench.simulation.inject({ indicator: 'Right' });
  await observer.seen.take(() => observer.seen.all.length > before);
  await bench.close();
  await observer.close();
  await broker.stop();
});
