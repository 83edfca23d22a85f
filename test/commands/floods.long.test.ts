/** Forged and replayed messages at a high rate: valid commands succeed, and repetitions cost no check and no write. */
import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { TrustStore } from '../../adapters/keys/trust-store.ts';
import { encodeCommand, openCommand } from '../../protocol/command.ts';
import { encodeSigned, type SigningAlgorithm } from '../../protocol/cose.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import { downTopic } from '../../protocol/topics.ts';
import { AedesRig } from '../rig/aedes.ts';
import { finalStates, makeKeys, RemoteCar } from './remote-car.ts';

const FORGED_PER_SECOND = 1_000;
const STEP_MS = 20;
/** Number of valid commands, one every half second. */
const COMMANDS = 8;
const REPLAY_MS = 10_000;

const broker = new AedesRig();
let keys: string;
let car: RemoteCar;
let topic: string;

beforeAll(async () => {
  keys = await makeKeys();
  await broker.start();
});

afterAll(async () => {
  await broker.stop();
  rmSync(keys, { recursive: true, force: true });
});

beforeEach(async () => {
  car = await RemoteCar.start({ url: broker.url, keys });
  topic = downTopic(car.vin, 'remote');
});

afterEach(async () => {
  vi.restoreAllMocks();
  await car.close();
});

/** A valid message with another signature. */
const forgedOf = (payload: Uint8Array, n: number): Uint8Array => {
  const forged = Uint8Array.from(payload);
  new DataView(forged.buffer).setUint32(forged.length - 8, n);
  return forged;
};

/** The valid command with another counter and id, and an invalid signature. */
const withNewCounter = (payload: Uint8Array, n: number): Uint8Array => {
  const { command, keyId, algorithm } = openCommand(payload);
  const other = encodeCommand({ ...command, id: `forged-${n}`, counter: command.counter + 1 + n });
  return encodeSigned(other, { algorithm: algorithm as SigningAlgorithm, keyId }, () => new Uint8Array(64).fill(n));
};

const endOf = (id: string) =>
  car.messages.find(({ kind, body }) => {
    const { remoteActionId, status } = body as RemoteReport;
    return kind === 'remote' && remoteActionId === id && finalStates.has(status);
  });

test.each([
  ['have a new counter each', withNewCounter],
  ['have the counter and the id of the valid command', forgedOf],
])('1,000 forged messages a second that %s do not delay a valid command beyond 5 s', async (_, forge) => {
  const received = vi.spyOn(TrustStore.prototype, 'digest');
  const sent = new Map<string, number>();
  let n = 0;
  for (let half = 0; half < COMMANDS; half++) {
    const [id, valid] = await car.sign('WakeUp', {});
    for (let step = 0; step < 500 / STEP_MS; step++) {
      const messages = Array.from({ length: (FORGED_PER_SECOND * STEP_MS) / 1000 }, () => forge(valid, ++n));
      if (step === 12) {
        sent.set(id, car.clock.now());
        messages.push(valid);
      }
      await Promise.all(messages.map((message) => car.cloud.publish(topic, message)));
      await vi.waitUntil(() => received.mock.calls.length >= n + sent.size, { timeout: 10_000, interval: 1 });
      await car.pass(STEP_MS);
    }
  }
  await car.pass(5_000);
  const slow = [...sent].filter(([id, at]) => {
    const end = endOf(id);
    const { status } = (end?.body ?? {}) as Partial<RemoteReport>;
    return status === undefined || status === 'Failed' || (end?.at ?? 0) - at > 5_000;
  });
  expect([sent.size, slow]).toEqual([COMMANDS, []]);
});

test('a finished command replayed 200 times a second is reported once more, and not verified or written again', async () => {
  const [id, payload] = await car.sign('Doors', { state: 'Locked' });
  await car.cloud.publish(topic, payload);
  await car.until(() => car.reports(id).some(({ status }) => finalStates.has(status)));
  const before = car.reports(id).length;
  const quiet = car.written;
  await car.pass(REPLAY_MS);
  const usual = car.written - quiet;
  const checks = vi.spyOn(TrustStore.prototype, 'verify');
  const received = vi.spyOn(TrustStore.prototype, 'digest');
  const begun = car.written;
  for (let step = 1; step <= REPLAY_MS / STEP_MS; step++) {
    await Promise.all([1, 2, 3, 4].map(() => car.cloud.publish(topic, payload)));
    await vi.waitUntil(() => received.mock.calls.length >= 4 * step, { timeout: 10_000, interval: 1 });
    await car.pass(STEP_MS);
  }
  expect(checks).toHaveBeenCalledTimes(0);
  expect(car.reports(id).length - before).toBe(1);
  // The normal writes of the car vary by some kB. A report for each repetition would add hundreds.
  expect(car.written - begun - usual).toBeLessThan(20_000);
});

test('repeated forgeries, used counters and late commands beyond five a second are not verified', async () => {
  const [first, payload] = await car.sign('WakeUp', {}, { counter: 7 });
  await car.cloud.publish(topic, payload);
  await car.until(() => car.reports(first).some(({ status }) => finalStates.has(status)));
  const forged = forgedOf((await car.sign('WakeUp', {}))[1], 1);
  const checks = vi.spyOn(TrustStore.prototype, 'verify');
  const used = await Promise.all(Array.from({ length: 200 }, () => car.sign('WakeUp', {}, { counter: 7 })));
  for (const [, message] of used) await car.cloud.publish(topic, message);
  for (let n = 0; n < 200; n++) await car.cloud.publish(topic, forged);
  await car.pass(1_000);
  expect(checks).toHaveBeenCalledTimes(1);
  const past = car.clock.now() - 120_000;
  const late = await Promise.all(
    Array.from({ length: 200 }, () => car.sign('WakeUp', {}, { issued: past, expires: past + 60_000 })),
  );
  for (const [, message] of late) await car.cloud.publish(topic, forgedOf(message, 1));
  await car.pass(4_000);
  expect(checks.mock.calls.length).toBeLessThanOrEqual(1 + 6 * 5);
  // Commands of a key holder are answered in the end.
  const [id, message] = await car.sign('WakeUp', {}, { issued: past, expires: past + 60_000 });
  await car.cloud.publish(topic, message);
  await car.until(() => car.reports(id).length > 0);
  expect(car.states(id)).toEqual(['VehicleConnectionTimeout']);
});
