/**
 * `vigie watch` shows a car or all cars, and requests faster sending from a single car, unless an option forbids it.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { encodeMessage, type Kind } from '../../protocol/receiver.ts';
import { catalogHash, catalogParts } from '../../protocol/signals/catalog.ts';
import { telemetryFromSignals } from '../../protocol/signals/telemetry.ts';
import { downFilter, downTopic, presenceTopic, upTopic } from '../../protocol/topics.ts';
import { decodeWatch } from '../../protocol/watch.ts';
import { AedesRig } from '../rig/aedes.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { VigieProcess } from '../rig/bench.ts';

const VIN = 'VF3WATCHEDCAR0001';
let broker: AedesRig;
let car: CloudClient;
let said: Arrivals<{ topic: string; payload: Uint8Array }>;
let watching: VigieProcess | undefined;

beforeEach(async () => {
  broker = new AedesRig();
  await broker.start();
  car = await CloudClient.connect(broker.url);
  said = new Arrivals();
  await car.subscribe(downFilter(VIN), (topic, payload) => said.push({ topic, payload }));
});
afterEach(async () => {
  await watching?.end('SIGKILL');
  await car.close();
  await broker.stop();
});

test('watch requests faster sending for some minutes, and renews the request', async () => {
  const before = Date.now();
  watching = new VigieProcess(['watch', VIN, '--broker', broker.url]);
  const { topic, payload } = await said.take();
  expect(topic).toBe(downTopic(VIN, 'watch'));
  const { until } = decodeWatch(payload);
  expect(until).toBeGreaterThan(before);
  expect(until).toBeLessThan(Date.now() + 600_000);
});

test('watch --passive requests nothing', async () => {
  watching = new VigieProcess(['watch', VIN, '--broker', broker.url, '--passive']);
  await watching.says(`watching ${VIN}`);
  // Any message that it sent would have reached the broker before this one.
  await car.publish(downTopic(VIN, 'ack'), new Uint8Array([1]));
  expect((await said.take()).topic).toBe(downTopic(VIN, 'ack'));
  expect(said.all).toHaveLength(1);
});

test('watch + shows all cars, each with its own catalogs, and requests nothing from them', async () => {
  const [first, second] = ['VF3WATCHEDCAR0001', 'VF3WATCHEDCAR0002'] as const;
  const named = (vin: string, name: string): [string, Uint8Array][] => {
    const entries = [{ number: 1, name, kind: 'quantity' as const }];
    const telemetry = telemetryFromSignals([{ number: 1, count: 7, at: 0 }], {
      catalog: catalogHash(entries),
      resolution: () => 1,
    });
    const message = (kind: Kind, body: object) =>
      encodeMessage({ version: 1, kind, seq: 1, boot: 1, at: 0, clock: 'ntp', body });
    return [
      [upTopic(vin, 'catalog'), message('catalog', catalogParts(entries)[0]!)],
      [upTopic(vin, 'telemetry'), message('telemetry', telemetry)],
    ];
  };
  await car.publish(presenceTopic(second), new TextEncoder().encode('asleep'), { retain: true });
  watching = new VigieProcess(['watch', '+', '--broker', broker.url, '--format', 'json']);
  await watching.says('watching all cars');
  for (const [topic, payload] of [...named(first, 'Oil'), ...named(second, 'Water')]) await car.publish(topic, payload);
  // A class whose number occurs twice has one message from each car.
  await watching.says(/"name":"Water","at".*\n/);
  const lines = watching.output.split('\n').filter((line) => line.startsWith('{'));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { vin: first, kind: 'catalog', seq: 1 },
    { vin: first, kind: 'telemetry', body: { signals: [{ name: 'Oil', values: [7] }] } },
    { vin: second, kind: 'catalog', seq: 1 },
    { vin: second, kind: 'telemetry', body: { signals: [{ name: 'Water', values: [7] }] } },
  ]);
  expect(watching.output).toContain(`presence: ${second} asleep`);
  await car.publish(downTopic(VIN, 'ack'), new Uint8Array([1]));
  expect((await said.take()).topic).toBe(downTopic(VIN, 'ack'));
});

test('watch + ends each text line with the car', async () => {
  watching = new VigieProcess(['watch', '+', '--broker', broker.url, '--format', 'text']);
  await watching.says('watching all cars');
  const body = { createdAt: 0, id: 'a1' };
  const trip = encodeMessage({ version: 1, kind: 'trip', seq: 4, boot: 1, at: 0, clock: 'ntp', body });
  await car.publish(upTopic(VIN, 'trip'), trip);
  await watching.says(`trip #4 {"createdAt":0,"id":"a1"} ${VIN}\n`);
});
