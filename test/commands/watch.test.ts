/** `vigie watch` tells the car that somebody watches, unless it is told not to. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { downFilter, downTopic } from '../../protocol/topics.ts';
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

test('for some minutes, which are renewed', async () => {
  const before = Date.now();
  watching = new VigieProcess(['watch', VIN, '--broker', broker.url]);
  const { topic, payload } = await said.take();
  expect(topic).toBe(downTopic(VIN, 'watch'));
  const { until } = decodeWatch(payload);
  expect(until).toBeGreaterThan(before);
  expect(until).toBeLessThan(Date.now() + 600_000);
});

test('not with --passive', async () => {
  watching = new VigieProcess(['watch', VIN, '--broker', broker.url, '--passive']);
  await watching.says(`watching ${VIN}`);
  // What it would have said is at the broker by now, before this.
  await car.publish(downTopic(VIN, 'ack'), new Uint8Array([1]));
  expect((await said.take()).topic).toBe(downTopic(VIN, 'ack'));
  expect(said.all).toHaveLength(1);
});
