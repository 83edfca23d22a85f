/** Programs that build agents from their own parts, without a command line. */

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DbcCodec } from '../../adapters/can/dbc/index.ts';
import { append, createBatch } from '../../adapters/can/frames.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import { openStore } from '../../adapters/store/index.ts';
import type { FrameBatch, FrameSource, LinkEvents, OutgoingMessage } from '../../agent/ports.ts';
import { type Car, startCar } from '../../assembly/car.ts';
import type { CloudLink } from '../../assembly/cloud-link.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { slotByPath } from '../../protocol/slots.ts';
import { MemoryLog } from '../rig/log.ts';

const vehicle = loadVehicle('bench');
const HORN = 'remote:horn:write';
const speed = slotByPath.get('kinetic.speed')!;

/** A bus of the program, which supplies the frames. */
class OwnBus implements FrameSource {
  readonly buses = ['body'];
  readonly #codec = new DbcCodec(vehicle.databases);
  #receive: (batch: FrameBatch) => void = () => undefined;

  async start(receive: (batch: FrameBatch) => void): Promise<void> {
    this.#receive = receive;
  }

  async stop(): Promise<void> {
    this.#receive = () => undefined;
  }

  drive(kmh: number): void {
    const { id, data } = this.#codec.encode('MOTION', { Speed: kmh });
    const batch = createBatch(1, 64);
    append(batch, Date.now(), id, 0, 0, data, data.length);
    this.#receive(batch);
  }
}

/** A cloud link of the program. It accepts every message while it is `connected`, and none otherwise. */
class OwnLink implements CloudLink {
  connected = false;
  readonly messages: (OutgoingMessage & { readonly decoded: Message })[] = [];
  closed = false;
  readonly #comes: boolean;
  #heard: (() => void)[] = [];

  constructor(comes = true) {
    this.#comes = comes;
  }

  open(events: LinkEvents): void {
    if (!this.#comes) return;
    this.connected = true;
    events.up();
  }

  async publish(message: OutgoingMessage): Promise<void> {
    this.messages.push({ ...message, decoded: decodeMessage(message.payload) });
    for (const heard of this.#heard) heard();
  }

  async close(): Promise<void> {
    this.connected = false;
    this.closed = true;
  }

  /** Resolves with the first message that matches. */
  message(fits: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.messages.find(({ decoded }) => fits(decoded));
        if (found !== undefined) resolve(found.decoded);
      };
      this.#heard.push(look);
      look();
    });
  }
}

let folder: string;
let log: MemoryLog;
const cars: Car[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-embedding-'));
  log = new MemoryLog();
});
afterEach(async () => {
  for (const car of cars.splice(0)) await car.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: Partial<Parameters<typeof startCar>[0]>): Promise<Car> {
  const car = await startCar({
    vin: 'VF3VGEBENCH000001',
    vehicle,
    settings: agentSettings({ outbox: { limit: 2 ** 20 } }),
    clock: new SystemClock(),
    log,
    ...options,
  });
  cars.push(car);
  return car;
}

const showsSpeed =
  (kmh: number) =>
  ({ kind, body }: Message): boolean =>
    kind === 'status' && JSON.stringify(body).includes(`"speed":${kmh}`);

test('a program builds an agent from its own source and link, and the frames are published as Status', async () => {
  const [bus, link] = [new OwnBus(), new OwnLink()];
  const { agent } = await start({ data: join(folder, 'car'), sources: [bus], link });
  bus.drive(42);
  expect(agent.status.value(speed)).toBe(42);
  expect((await link.message(({ kind }) => kind === 'hello')).kind).toBe('hello');
  expect((await link.message(showsSpeed(42))).kind).toBe('status');
  expect(link.messages.every(({ topic }) => topic.startsWith('vigie/1/VF3VGEBENCH000001/up/'))).toBe(true);
});

test('two agents in one process have separate sources, links, records and start numbers', async () => {
  const [first, second] = ['VF3VGEBENCH000001', 'VF3VGEBENCH000002'].map((vin) => ({
    vin,
    bus: new OwnBus(),
    link: new OwnLink(),
  })) as [Pair, Pair];
  const one = await start({ vin: first.vin, data: join(folder, '1'), sources: [first.bus], link: first.link });
  const other = await start({ vin: second.vin, data: join(folder, '2'), sources: [second.bus], link: second.link });
  first.bus.drive(30);
  second.bus.drive(90);
  expect([one, other].map(({ agent }) => agent.status.value(speed))).toEqual([30, 90]);
  await Promise.all([first.link.message(showsSpeed(30)), second.link.message(showsSpeed(90))]);
  for (const { vin, link } of [first, second]) {
    expect(new Set(link.messages.map(({ topic }) => topic.split('/')[2]))).toEqual(new Set([vin]));
  }
  await one.stop();
  second.bus.drive(95);
  expect(other.agent.status.value(speed)).toBe(95);
  expect([first.link.closed, second.link.closed]).toEqual([true, false]);
});

interface Pair {
  readonly vin: string;
  readonly bus: OwnBus;
  readonly link: OwnLink;
}

test('stop() resolves when unpublished messages are on disk, and another agent can then use the directory', async () => {
  const data = join(folder, 'car');
  const bus = new OwnBus();
  const car = await start({ data, sources: [bus], link: new OwnLink(false) });
  bus.drive(42);
  await car.stop();
  expect(existsSync(join(data, 'lock'))).toBe(false);
  const { outbox, close } = await openStore(join(data, 'outbox'));
  const kinds = [...outbox.entries()].map(({ kind }) => kind);
  expect(kinds).toContain('telemetry');
  await close();
  const link = new OwnLink();
  await start({ data, sources: [new OwnBus()], link });
  expect((await link.message(({ kind }) => kind === 'telemetry')).kind).toBe('telemetry');
});

test('a car that stops accepts no command and begins no action while an exit still closes', async () => {
  const bus = new OwnBus();
  const acted: string[] = [];
  let outcome: unknown;
  const submit = (state: string): Promise<unknown> =>
    car.agent.requests.submit({ type: 'Horn', body: { state }, remote: {} }).catch((error: unknown) => error);
  const car = await start({
    data: join(folder, 'car'),
    sources: [bus],
    actuators: [{ actions: new Set(['horn.on', 'horn.off']), actuate: async (action) => void acted.push(action) }],
    exits: {
      configuration: { ...{ prefix: 'plain', form: 'value', retain: true, interval: 0 }, scopes: new Set([HORN]) },
      openNumbered: async () => ({
        served: [],
        close: async () => {
          outcome = await submit('Activated');
        },
      }),
    },
  });
  bus.drive(0);
  const earlier = submit('Deactivated');
  await car.stop();
  expect(await earlier).toBeInstanceOf(VigieError);
  expect(outcome).toMatchObject({ code: 'store.failed', message: expect.stringContaining('try again') });
  expect(acted).toEqual([]);
});

test('without a directory everything is in memory, and without a link nothing is published', async () => {
  const bus = new OwnBus();
  const car = await start({ sources: [bus] });
  bus.drive(42);
  expect(car.agent.status.value(speed)).toBe(42);
  await car.stop();
  expect(readdirSync(folder)).toEqual([]);
  expect(log.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

test('an interface without a directory for its keys is refused with advice', async () => {
  const refused = start({ http: { local: true, port: 0 } });
  await expect(refused).rejects.toThrow(VigieError);
  await expect(refused).rejects.toThrow('give a directory of records');
});
