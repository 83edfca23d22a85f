/** The bench after a day: the agent as started in a car, its store on disk, its interface on a port. */

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { Agent } from 'undici';
import { callbackChannels, type VapidKeys } from '../../adapters/callbacks/index.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import { generateKey } from '../../adapters/keys/index.ts';
import { EmbeddedBroker } from '../../adapters/mqtt/index.ts';
import type { SimulatedCar } from '../../adapters/simulated/index.ts';
import { openDocument, openStore } from '../../adapters/store/index.ts';
import type { OutboxStore, OutgoingMessage } from '../../agent/ports.ts';
import { type Car, startCar } from '../../assembly/car.ts';
import { beginRecords, openLedger } from '../../assembly/directory.ts';
import type { InterfaceOptions } from '../../assembly/interface.ts';
import type { CarService } from '../../assembly/service.ts';
import { benchCar } from '../../assembly/simulation.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import { commandKinds } from '../../protocol/schema/remote.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { DAY, MIDNIGHT, recordDay, vehicle } from './day.ts';
import { Life } from './day-run.ts';
import { MemoryLog } from './log.ts';
import { madeOnce } from './run.ts';

export const VIN = 'VF3VGEBENCH000001';

/** The machine's clock, set to the evening of the recorded day. */
export class EveningClock extends SystemClock {
  readonly #shift = MIDNIGHT + DAY - Date.now();

  override now(): number {
    return super.now() + this.#shift;
  }

  override quality(): ClockQuality {
    return 'ntp';
  }
}

/** A disk that a test can make refuse writes. */
class Disk {
  full = false;

  guard(store: OutboxStore): OutboxStore {
    const commit = async (): Promise<void> => {
      if (this.full) throw new VigieError('store.failed', 'no space left on device');
      await store.commit();
    };
    // Members of a class are on its prototype, so a proxy is needed to pass all of them on.
    return new Proxy(store, {
      get: (target, name) => {
        if (name === 'commit') return commit;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }
}

export interface BenchOptions {
  /** Default: as `vigie bench` serves it, both sides without access control. */
  readonly http?: InterfaceOptions['http'];
  /** False: a new car without records. Default: the car has run the scripted day. */
  readonly lived?: boolean;
  /** URL of the broker for the car. Default: a separate one. */
  readonly broker?: string;
  /** True: no frames arrive, so that the car stays as at the end of its day. */
  readonly still?: boolean;
  /** Keys for push notifications. Default: none. */
  readonly push?: VapidKeys;
}

/** File with the messages of the day, in the data directory. */
const SENT = 'sent-that-day';

/** A bench in this process. */
export class InterfaceBench {
  readonly data: string = mkdtempSync(join(tmpdir(), 'vigie-interface-'));
  readonly log = new MemoryLog();
  readonly disk = new Disk();
  readonly clock = new EveningClock();
  readonly simulation: SimulatedCar = benchCar(vehicle, this.clock, { scenario: 'parked' });
  readonly #broker = new EmbeddedBroker();
  readonly #still: boolean;
  readonly #push: VapidKeys | undefined;
  readonly #url: string | undefined;
  readonly #http: NonNullable<BenchOptions['http']>;
  readonly #connections = new Agent({ connections: 8, pipelining: 1 });
  #car: Car | undefined;

  private constructor({ http = { local: true, port: 0 }, broker, still = false, push }: BenchOptions) {
    this.#push = push;
    this.#http = http;
    this.#still = still;
    this.#url = broker;
  }

  static async start(options: BenchOptions = {}): Promise<InterfaceBench> {
    const { lived = true } = options;
    const bench = new InterfaceBench(options);
    if (options.broker === undefined) await bench.#broker.start();
    await generateKey(join(bench.data, 'keys'), 'bench', { algorithm: 'ES256', kinds: [...commandKinds] });
    if (lived) cpSync(await madeOnce('lived-day', liveDay), bench.data, { recursive: true });
    await bench.boot();
    return bench;
  }

  get car(): Car {
    if (this.#car === undefined) throw new Error('the car is not started');
    return this.#car;
  }

  /** URL of the interface. */
  get url(): string {
    return this.car.interface?.url ?? '';
  }

  /** Messages that the car sent during its day. */
  sentThatDay(): readonly Pick<OutgoingMessage, 'topic' | 'payload'>[] {
    return deserialize(readFileSync(join(this.data, SENT))) as Pick<OutgoingMessage, 'topic' | 'payload'>[];
  }

  /** Starts the agent, also after {@link halt}. */
  async boot(): Promise<void> {
    const push = this.#push;
    this.#car = await startCar({
      vin: VIN,
      vehicle,
      data: this.data,
      sources: this.#still ? [] : [this.simulation],
      sender: this.simulation,
      mqtt: { url: this.#url ?? this.#broker.url },
      backoff: { first: 20, longest: 100 },
      trust: join(this.data, 'keys', 'trust.json'),
      settings: agentSettings({ outbox: { batch: 2_000 }, health: { every: 3_600_000 } }),
      notificationChannels: callbackChannels({
        networks: ['127.0.0.0/8'],
        allowHttp: true,
        ...(push === undefined ? {} : { vapid: () => push, pushKey: push.publicKey }),
        now: () => this.clock.now(),
      }),
      http: this.#http,
      log: this.log,
      clock: this.clock,
      service: this.#service(),
    });
  }

  /** Stops the agent in order. */
  async halt(): Promise<void> {
    const car = this.#car;
    this.#car = undefined;
    await car?.stop();
  }

  async close(): Promise<void> {
    await this.halt();
    await this.#connections.close();
    await this.#broker.stop();
    rmSync(this.data, { recursive: true, force: true });
  }

  /** Sends a request. `path` begins with a slash, or is a complete URL. */
  async ask(method: string, path: string, { body, headers = {} }: Asking = {}): Promise<Answered> {
    const url = new URL(path.startsWith('/') ? `${this.url}${path}` : path);
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await this.#connections.request({
      origin: url.origin,
      // Sent unchanged: a URL object would normalise it.
      path: path.startsWith('/') ? path : `${url.pathname}${url.search}`,
      method: method as 'GET',
      headers: { ...json, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, json: text === '' ? undefined : parsed(text) };
  }

  #service(): CarService {
    return {
      agentCommands: new Map(),
      overseer: { looksEvery: () => undefined, ticked: () => undefined, hello: () => ({}) },
      store: ({ outbox }) => this.disk.guard(outbox),
      lacks: () => undefined,
      exits: () => undefined,
      events: (agent) => agent,
    };
  }
}

/** Runs the day in another agent, which leaves its records in the directory. */
async function liveDay(data: string): Promise<void> {
  const log = new MemoryLog();
  mkdirSync(data);
  const first = await beginRecords(data, log);
  mkdirSync(join(data, 'outbox'));
  const boots = await openDocument(join(data, 'boot.json'), { boot: 0 }, { log });
  await boots.write({ boot: 1 });
  const sent: Pick<OutgoingMessage, 'topic' | 'payload'>[] = [];
  const store = await openStore(join(data, 'outbox'), { log, now: () => MIDNIGHT });
  const life = new Life(
    await recordDay(),
    {
      outbox: store.outbox,
      memory: store.memory,
      records: store.records,
      asked: true,
      ledger: await openLedger(data, first, log),
    },
    1,
    log,
    ({ topic, payload }) => sent.push({ topic, payload: payload.slice() }),
  );
  await life.live(Number.POSITIVE_INFINITY);
  await life.rest();
  await store.close();
  writeFileSync(join(data, SENT), serialize(sent));
  const wrong = log.lines.filter(({ level }) => level === 'error');
  if (wrong.length > 0) throw new Error(`the day was not lived in order: ${JSON.stringify(wrong)}`);
}

export interface Asking {
  /** Sent as JSON. A string is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Undefined if the body is not JSON. */
  readonly json: unknown;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
