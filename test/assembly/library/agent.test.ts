/** The public API of the package: agents that a program creates with createAgent. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { append, canLog, createBatch, DbcCodec, slcan, socketcan } from '../../../assembly/library/can.ts';
import { gpsd } from '../../../assembly/library/gnss.ts';
import { localInterface } from '../../../assembly/library/http.ts';
import {
  type CloudLink,
  type CreateAgentOptions,
  createAgent,
  type FrameBatch,
  type FrameSource,
  type Message,
  type Recorder,
  type StatusChange,
  type VigieAgent,
  VigieError,
} from '../../../assembly/library/index.ts';
import { mqtt } from '../../../assembly/library/mqtt.ts';
import { isotp } from '../../../assembly/library/obd.ts';
import { directory, memoryStore } from '../../../assembly/library/store.ts';
import { CloudClient, EmbeddedBroker, simulatedCar, VirtualClock } from '../../../assembly/library/testing.ts';
import { loadVehicle } from '../../../assembly/vehicle.ts';
import { decodeMessage } from '../../../protocol/cbor/message.ts';
import { MemoryLog } from '../../rig/log.ts';

const VIN = 'VF3VGEBENCH000001';
const codec = new DbcCodec(loadVehicle('bench').databases);

let folder: string;
const ends: (() => Promise<void>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-library-'));
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
});

/** Emits the test's frames with the current time. */
class OwnBus implements FrameSource {
  readonly buses = ['body'];
  #receive: (batch: FrameBatch) => void = () => undefined;

  async start(receive: (batch: FrameBatch) => void): Promise<void> {
    this.#receive = receive;
  }

  async stop(): Promise<void> {
    this.#receive = () => undefined;
  }

  drive(kmh: number): void {
    const { id, data } = codec.encode('MOTION', { Speed: kmh });
    const batch = createBatch(1, 64);
    append(batch, Date.now(), id, 0, 0, data, data.length);
    this.#receive(batch);
  }
}

async function started(options: Partial<CreateAgentOptions>): Promise<VigieAgent> {
  const agent = await createAgent({ vin: VIN, profile: 'bench', ...options });
  await agent.start();
  ends.push(() => agent.stop());
  return agent;
}

test('an agent emits each change of Status by path, and each of its messages by kind', async () => {
  const bus = new OwnBus();
  const agent = await createAgent({ vin: VIN, profile: 'bench', sources: [bus] });
  ends.push(() => agent.stop());
  const changes: StatusChange[] = [];
  const records: Message[] = [];
  agent.on('change', (change) => changes.push(change));
  const end = agent.on('record', (record) => records.push(record));
  expect(agent.status.get('kinetic.speed')).toBeUndefined();
  await agent.start();
  bus.drive(42);
  const speed: number | undefined = agent.status.get('kinetic.speed');
  expect(speed).toBe(42);
  expect(changes).toContainEqual({ path: 'kinetic.speed', value: 42, at: expect.any(Number) });
  await agent.stop();
  expect(records.map(({ kind }) => kind)).toContain('telemetry');
  const before = records.length;
  end();
  await agent.start();
  bus.drive(43);
  await agent.stop();
  expect(records.length).toBe(before);
  expect(agent.status.get('kinetic.speed')).toBe(43);
});

test('a listener that throws is logged, and the agent and other listeners continue', async () => {
  const [bus, log] = [new OwnBus(), new MemoryLog()];
  const agent = await started({ sources: [bus], log });
  const seen: unknown[] = [];
  agent.on('change', () => {
    throw new Error('mine');
  });
  agent.on('change', ({ value }) => seen.push(value));
  bus.drive(42);
  expect(seen).toContain(42);
  const message = 'A listener of the program failed';
  const fields = { message, listener: expect.any(String), error: expect.stringContaining('mine') };
  expect(log.lines).toContainEqual({ level: 'error', event: 'listener.failed', fields });
});

test('a simulated car with a virtual clock publishes over MQTT, and a directory stores unsent messages', async () => {
  const broker = new EmbeddedBroker();
  const { url } = await broker.start();
  ends.push(() => broker.stop());
  const cloud = await CloudClient.connect(url);
  ends.push(() => cloud.close());
  const first = new Promise<Message>((resolve) => {
    void cloud.subscribe(`vigie/1/${VIN}/up/status`, (_topic, payload) => resolve(decodeMessage(payload)));
  });
  const clock = new VirtualClock();
  const agent = await started({
    sources: [simulatedCar({ clock })],
    link: mqtt({ url }),
    store: directory(join(folder, 'car')),
    clock,
  });
  const moving = new Promise<StatusChange>((resolve) => {
    agent.on('change', (change) => {
      if (change.path === 'kinetic.moving' && change.value === true) resolve(change);
    });
  });
  let waiting = true;
  void Promise.all([moving, first]).then(() => {
    waiting = false;
  });
  while (waiting) await clock.settle(1_000, 100);
  expect((await moving).at).toBeLessThanOrEqual(clock.now());
  expect((await first).kind).toBe('status');
  expect(existsSync(join(folder, 'car', 'outbox'))).toBe(true);
});

test('a store of the program keeps the state of its recorder between runs', async () => {
  const kept = memoryStore();
  let opened = 0;
  const store = async () => ({ ...kept, boot: ++opened, close: async () => undefined });
  const counts: number[] = [];
  const stops = (): Recorder => {
    let count = 0;
    return {
      name: 'stops',
      watches: [],
      tick: () => undefined,
      flush: () => counts.push(count),
      settled: () => count++,
      state: () => count,
      restore: (state) => {
        count = Number(state);
      },
    };
  };
  for (const kmh of [10, 20]) {
    const bus = new OwnBus();
    const agent = await createAgent({ vin: VIN, profile: 'bench', sources: [bus], store, recorders: [stops] });
    const boots: number[] = [];
    agent.on('record', ({ boot }) => boots.push(boot));
    await agent.start();
    bus.drive(kmh);
    await agent.stop();
    await kept.outbox.commit();
    expect(new Set(boots)).toEqual(new Set([opened]));
  }
  expect(counts).toEqual([1, 2]);
});

test('two recorders of one name are refused, because their states would be mixed', async () => {
  const again = (): Recorder => ({ name: 'trip', tick: () => undefined, flush: () => undefined });
  const agent = await createAgent({ vin: VIN, profile: 'bench', recorders: [again, again] });
  await expect(agent.start()).rejects.toMatchObject({ code: 'usage.wrong', message: expect.stringContaining('trip') });
});

test('the interface is served at its URL and ends with the agent', async () => {
  const agent = await started({ store: directory(folder), http: localInterface() });
  expect((await fetch(`${agent.url}/connectedcar/v3/fleets`)).status).toBe(200);
  await agent.stop();
  expect(agent.url).toBeUndefined();
});

test('a fully configured agent adds no listener to the process of its program', async () => {
  const listeners = () => Object.fromEntries(process.eventNames().map((name) => [name, process.listenerCount(name)]));
  const broker = new EmbeddedBroker();
  const { url } = await broker.start();
  ends.push(() => broker.stop());
  const before = listeners();
  const agent = await started({
    sources: [simulatedCar()],
    link: mqtt({ url }),
    store: directory(folder),
    http: localInterface(),
    remotes: { trust: join(folder, 'keys.json') },
  });
  expect(listeners()).toEqual(before);
  await agent.stop();
  expect(listeners()).toEqual(before);
});

test('stop resolves for every caller when the agent has stopped, and does nothing before a start', async () => {
  const closed: string[] = [];
  const kept = memoryStore();
  const store = async () => ({ ...kept, boot: 1, close: async () => void closed.push('store') });
  const agent = await createAgent({ vin: VIN, profile: 'bench', store });
  await agent.stop();
  await agent.start();
  void agent.stop();
  await expect(agent.start()).rejects.toMatchObject({
    code: 'usage.wrong',
    message: expect.stringContaining('stopping'),
  });
  await agent.stop();
  expect(closed).toEqual(['store']);
  await agent.start();
  await agent.stop();
  expect(closed).toEqual(['store', 'store']);
});

test('an agent stopped during its start ends up stopped, and one that cannot start stops without an error', async () => {
  const agent = await createAgent({ vin: VIN, profile: 'bench', store: directory(folder), http: localInterface() });
  await Promise.all([agent.start(), agent.stop()]);
  expect(agent.url).toBeUndefined();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const unable = await createAgent({ vin: VIN, profile: 'bench', store: directory(file) });
  const [started, stopped] = await Promise.allSettled([unable.start(), unable.stop()]);
  expect([started, stopped]).toMatchObject([
    { status: 'rejected', reason: { code: 'usage.wrong', where: file } },
    { status: 'fulfilled' },
  ]);
});

test('stop resolves even if the link fails and the clock stands still, and the log has the link error', async () => {
  const [clock, log] = [new VirtualClock(), new MemoryLog()];
  let failed = (): void => undefined;
  const called = new Promise<void>((resolve) => {
    failed = resolve;
  });
  const link: CloudLink = {
    connected: true,
    open: (events) => events.up(),
    publish: async () => {
      failed();
      throw new TypeError('a bug of the program');
    },
    close: async () => undefined,
  };
  const agent = await started({ link, clock, log });
  await called;
  await clock.settle(20_000, 1_000);
  await agent.stop();
  expect(log.lines.filter(({ event }) => event === 'link.publishFailed')).toEqual([
    {
      level: 'error',
      event: 'link.publishFailed',
      fields: { message: expect.any(String), error: expect.stringMatching(/TypeError: a bug of the program\n {4}at /) },
    },
  ]);
});

test('two agents of one program cannot use the same directory at the same time', async () => {
  const first = await started({ store: directory(folder) });
  const second = await createAgent({ vin: VIN, profile: 'bench', store: directory(`${folder}/.`) });
  ends.push(() => second.stop());
  await expect(second.start()).rejects.toMatchObject({
    code: 'usage.wrong',
    message: expect.stringContaining('this program already uses it'),
  });
  await first.stop();
  await second.start();
});

test('a second start is refused while the agent runs', async () => {
  const agent = await started({});
  await expect(agent.start()).rejects.toMatchObject({ code: 'usage.wrong' });
});

const refusals: [what: string, options: Partial<CreateAgentOptions>, code: string, words: string][] = [
  ['commands without a directory', { remotes: { trust: 'keys' } }, 'usage.wrong', 'give a directory'],
  ['an interface without a directory', { http: localInterface() }, 'usage.wrong', 'give a directory'],
  ['a profile that does not exist', { profile: 'bensh' }, 'configuration.wrong', 'bensh'],
  [
    'a bus that the profile does not have',
    { sources: [slcan('/dev/x', { bus: 'rear' })] },
    'configuration.wrong',
    'rear',
  ],
  ['two receivers', { sources: [gpsd(), gpsd()] }, 'configuration.wrong', 'at most one source of gnss'],
  ['requests over a bus without input', { sources: [isotp()] }, 'configuration.wrong', 'needs the bus of a CAN input'],
];
for (const [what, options, code, words] of refusals) {
  test(`createAgent refuses ${what} and names what to do`, async () => {
    const refused = createAgent({ vin: VIN, profile: 'bench', ...options });
    await expect(refused).rejects.toBeInstanceOf(VigieError);
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
  });
}

test('an input without a bus feeds the only CAN bus of the profile', async () => {
  const log = new MemoryLog();
  await createAgent({ vin: VIN, profile: 'bench', sources: [socketcan('can0')], log });
  expect(log.lines).toEqual([]);
});

test('a source of the program feeds its buses, and the warning about another bus has the API’s terms', async () => {
  const log = new MemoryLog();
  await createAgent({ vin: VIN, profile: 'bench', sources: [simulatedCar(), gpsd()], log });
  expect(log.lines.map(({ fields }) => fields?.['problem'])).not.toContainEqual(expect.stringContaining('body'));
  await createAgent({ vin: VIN, profile: 'bench', sources: [gpsd()], log });
  expect(log.lines.map(({ fields }) => fields)).toContainEqual({
    message: expect.any(String),
    problem: 'no CAN input feeds bus body of profile bench',
    fix: "add a source of it, such as socketcan('can0', { bus: 'body' })",
  });
});

test('the end of a recording calls the program', async () => {
  const log = join(folder, 'drive.log');
  const { id, data } = codec.encode('MOTION', { Speed: 42 });
  const hex = Buffer.from(data).toString('hex').toUpperCase();
  writeFileSync(log, `(1767268800.000000) can0 ${id.toString(16).toUpperCase().padStart(3, '0')}#${hex}\n`);
  let agent: VigieAgent | undefined;
  const speed = new Promise((resolve) => {
    const sources = [canLog(log, { ended: () => resolve(agent?.status.get('kinetic.speed')) })];
    void createAgent({ vin: VIN, profile: 'bench', sources }).then((made) => {
      agent = made;
      ends.push(() => made.stop());
      return made.start();
    });
  });
  expect(await speed).toBe(42);
});

test('a recording with a virtual clock is played at the same times in each run', async () => {
  const log = join(folder, 'drive.log');
  const lines = [10, 20, 30, 40].map((kmh, second) => {
    const { id, data } = codec.encode('MOTION', { Speed: kmh });
    const hex = Buffer.from(data).toString('hex').toUpperCase();
    return `(${1767268800 + second}.000000) can0 ${id.toString(16).toUpperCase().padStart(3, '0')}#${hex}\n`;
  });
  writeFileSync(log, lines.join(''));
  const clock = new VirtualClock();
  const begin = clock.now();
  const agent = await createAgent({ vin: VIN, profile: 'bench', sources: [canLog(log)], clock });
  ends.push(() => agent.stop());
  const times: number[] = [];
  agent.on('change', ({ path, at }) => path === 'kinetic.speed' && times.push(at - begin));
  await agent.start();
  await clock.settle(3_500, 100);
  expect(times).toEqual([0, 1_000, 2_000, 3_000]);
});

test('trips of the simulated car end in a program as they do on the bench', async () => {
  const clock = new VirtualClock();
  const agent = await started({ sources: [simulatedCar({ clock })], clock });
  const trips: boolean[] = [];
  agent.on('record', ({ kind, body }) => kind === 'trip' && trips.push((body as { done: boolean }).done));
  await clock.settle(900_000, 1_000);
  expect(trips).toContain(true);
});

test('an unknown agent event, and a listener that is not a function, are refused by name', async () => {
  const agent = await createAgent({ vin: VIN, profile: 'bench' });
  // @ts-expect-error the compiler refuses it as well
  expect(() => agent.on('changed', () => undefined)).toThrow('an agent has no event changed, only change and record');
  // @ts-expect-error the compiler refuses it as well
  expect(() => agent.on('change', 'changed')).toThrow(VigieError);
});

test('an unknown Status path is refused by name', async () => {
  const agent = await createAgent({ vin: VIN, profile: 'bench' });
  // @ts-expect-error the compiler refuses it as well
  expect(() => agent.status.get('kinetic.sped')).toThrow('Status has no kinetic.sped');
});
