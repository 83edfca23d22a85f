/** A car whose keys are missing or damaged is recorded and published; its commands are refused until they are fixed. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { CommandSigner, generateKey } from '../../adapters/keys/index.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { openDocument } from '../../adapters/store/index.ts';
import { channelsOf } from '../../assembly/callback-channels.ts';
import { type Car, startCar } from '../../assembly/car.ts';
import { Configurations } from '../../assembly/generation.ts';
import { type CarService, Service, Starts } from '../../assembly/service.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { encodeBody, encodeCommand } from '../../protocol/command.ts';
import type { LogEvent } from '../../protocol/log-events.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { downTopic, upFilter } from '../../protocol/topics.ts';
import { vapidKeys } from '../adapters/callbacks/push-service.ts';
import { AedesRig } from '../rig/aedes.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { ImpatientClock } from '../rig/impatient-clock.ts';
import { MemoryLog } from '../rig/log.ts';

const VIN = 'VF3VGEBENCH000001';
const broker = new AedesRig();
let folder: string;
let cloud: CloudClient;
let car: Car | undefined;
let messages: Arrivals<Message>;
beforeAll(() => broker.start());
afterAll(() => broker.stop());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-untrusted-'));
  mkdirSync(join(folder, 'records'));
  await generateKey(join(folder, 'keys'), 'owner', { algorithm: 'ES256', kinds: ['Lights'] });
  cloud = await CloudClient.connect(broker.url);
  messages = new Arrivals();
  await cloud.subscribe(upFilter(VIN), (_topic, payload) => messages.push(decodeMessage(payload)));
});
afterEach(async () => {
  await car?.stop();
  await cloud.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends a command that the car cannot carry out, and so answers when it knows the key. */
async function order(id: string): Promise<void> {
  const signer = await CommandSigner.open(join(folder, 'keys'), 'owner');
  const issued = Date.now();
  const body = encodeBody('Lights', { on: true });
  const payload = await signer.sign((counter) =>
    encodeCommand({ id, vin: VIN, kind: 'Lights', body, issued, expires: issued + 60_000, counter }),
  );
  await cloud.publish(downTopic(VIN, 'remote'), payload);
}

class ToldLog extends MemoryLog {
  readonly said = new Arrivals<{ readonly event: LogEvent; readonly fields: Record<string, unknown> | undefined }>();
  override info(event: LogEvent, fields?: Record<string, unknown>): void {
    super.info(event, fields);
    this.said.push({ event, fields });
  }
  override warn(event: LogEvent, fields?: Record<string, unknown>): void {
    super.warn(event, fields);
    this.said.push({ event, fields });
  }
  override error(event: LogEvent, fields?: Record<string, unknown>): void {
    super.error(event, fields);
    this.said.push({ event, fields });
  }
}

test.each([
  ['missing', undefined],
  ['damaged', '{ "version": 1, "keys": ['],
])('a car records, and refuses commands until repair, with keys that are %s', async (_, damage) => {
  const [trust, push] = [join(folder, 'keys', 'trust.json'), join(folder, 'push.key')];
  const sound = readFileSync(trust, 'utf8');
  rmSync(trust);
  for (const file of [trust, push]) if (damage !== undefined) writeFileSync(file, damage);
  const { subject, publicKey, privateKey } = vapidKeys();
  const log = new ToldLog();
  const lacking = new Map<string, string | undefined>();
  const clock = new ImpatientClock();
  const service = { lacks: (part: string, why: string | undefined) => lacking.set(part, why) };
  car = await startCar({
    vin: VIN,
    vehicle: loadVehicle('bench'),
    data: join(folder, 'records'),
    sources: [],
    mqtt: { url: broker.url },
    trust,
    notificationChannels: channelsOf(
      { networks: [], allowHttp: false, queueLimit: 100, push: { subject, publicKey, privateKeyFile: push } },
      () => clock.now(),
    ),
    settings: agentSettings({ outbox: { limit: 2 ** 20 } }),
    log,
    clock,
    service: { ...watching, ...service },
  });
  expect(lacking.get('trust')).toContain(trust);
  expect(lacking.get('callbacks')).toMatch(/push/);
  // The car still publishes.
  await messages.take(({ kind }) => kind === 'hello');
  await order('before');
  const { fields } = await log.said.take(({ event }) => event === 'command.refused');
  expect(fields).toMatchObject({ code: 'command.unsigned' });
  writeFileSync(trust, sound);
  await log.said.take(({ fields: of }) => of?.['was'] === 'trust.unavailable');
  expect(lacking.get('trust')).toBeUndefined();
  await order('after');
  const answered = await messages.take(({ kind }) => kind === 'remote');
  expect(answered.body).toMatchObject({ remoteActionId: 'after' });
  expect(lacking.get('callbacks')).toBeDefined();
  writeFileSync(push, privateKey);
  await log.said.take(({ fields: of }) => of?.['was'] === 'callbacks.limited');
  expect(lacking.get('callbacks')).toBeUndefined();
  // Each failure was logged once, however often it was retried.
  const failed = log.lines.filter(({ event }) => event === 'trust.unavailable' || event === 'callbacks.limited');
  expect(failed.map(({ level, event }) => [level, event]).sort()).toEqual([
    ['error', 'callbacks.limited'],
    ['error', 'trust.unavailable'],
  ]);
});

const watching: CarService = {
  agentCommands: new Map(),
  overseer: { looksEvery: () => undefined, ticked: () => undefined, hello: () => ({}) },
  store: ({ outbox }) => outbox,
  lacks: () => undefined,
  exits: () => undefined,
  events: (agent) => agent,
};

test('keys added by command are not trusted by a car without its own trust file', async () => {
  const trust = join(folder, 'keys', 'trust.json');
  const [key] = JSON.parse(readFileSync(trust, 'utf8')).keys;
  await (await openDocument(join(folder, 'records', 'trust.json'), {})).write({ keys: [key], revoked: [] });
  const log = new ToldLog();
  const options = {
    vin: VIN,
    vehicle: loadVehicle('bench'),
    data: join(folder, 'records'),
    sources: [],
    mqtt: { url: broker.url },
    settings: agentSettings({ outbox: { limit: 2 ** 20 } }),
    log,
    clock: new SystemClock(),
  };
  car = await startCar(options);
  await log.said.take(({ event }) => event === 'link.up');
  await order('to-nobody');
  const { fields } = await log.said.take(({ event }) => event === 'command.refused');
  expect(fields).toMatchObject({ code: 'command.unsigned' });
});

const text = (trust: string): string => `configuration: 1
vin: ${VIN}
profile: bench
data: ./records
can: [{ bus: body, simulated: true }]
mqtt: { url: mqtt://localhost }
commands: { trust: ${trust} }
`;

test('a configuration runs without its key files, but a sent one must have them', async () => {
  const [file, data, log] = [join(folder, 'vigie.yaml'), join(folder, 'records'), new MemoryLog()];
  const clock = new SystemClock();
  const open = () => Configurations.open({ file, data, environment: {}, clock, log, unwritten: {} });
  writeFileSync(join(folder, 'damaged.json'), '{}');
  for (const trust of ['damaged.json', 'missing.json']) {
    writeFileSync(file, text(trust));
    const chosen = await (await open()).choose();
    expect(chosen.configuration.commands?.trust).toBe(join(folder, trust));
    expect(chosen.diagnostics.map(({ severity }) => severity)).toEqual(['warning']);
    expect(chosen.diagnostics[0]?.file + (chosen.diagnostics[0]?.message ?? '')).toContain(trust);
  }
  writeFileSync(file, text('keys/trust.json'));
  const configurations = await open();
  expect((await configurations.choose()).diagnostics).toEqual([]);
  for (const trust of ['damaged.json', 'missing.json']) {
    const sent = encodeBody('Configuration', { configuration: text(trust) });
    const message = expect.stringContaining(trust);
    await expect(configurations.agentCommand(sent, 0)).rejects.toMatchObject({ code: 'configuration.wrong', message });
  }
  expect(configurations.hello).toEqual({ generation: 0, state: 'local' });
  configurations.close();
});

test('status reports the parts that the agent does without', async () => {
  const [file, data, log] = [join(folder, 'vigie.yaml'), join(folder, 'records'), new MemoryLog()];
  const clock = new SystemClock();
  writeFileSync(file, text('keys/trust.json'));
  const configurations = await Configurations.open({ file, data, environment: {}, clock, log, unwritten: {} });
  const starts = await Starts.open(data, log);
  const options = { vin: VIN, profile: 'bench', data, clock, log, environment: {}, configurations, starts };
  const service = await Service.open({ ...options });
  try {
    expect(service.report().lacking).toBeUndefined();
    service.lacks('trust', 'no file');
    service.lacks('callbacks', 'no key');
    expect(service.report().lacking).toEqual({ trust: 'no file', callbacks: 'no key' });
    service.lacks('callbacks', undefined);
    expect(service.report().lacking).toEqual({ trust: 'no file' });
  } finally {
    await service.close(true);
  }
});
