/** The simulated car with the real agent on a real broker, controlled by signed commands, on simulated time. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SystemClock } from '../../adapters/clock/system.ts';
import { CommandSigner, generateKey } from '../../adapters/keys/index.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import type { SimulatedCar } from '../../adapters/simulated/index.ts';
import { type FileSystem, nodeFileSystem } from '../../adapters/store/files.ts';
import { openDocument } from '../../adapters/store/index.ts';
import { emptyLedger, type LedgerData } from '../../agent/remotes/ledger.ts';
import { type Car, startCar } from '../../assembly/car.ts';
import type { CarOptions } from '../../assembly/car-options.ts';
import { beginRecords } from '../../assembly/directory.ts';
import { benchCar } from '../../assembly/simulation.ts';
import { loadVehicle, type Vehicle } from '../../assembly/vehicle.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { type Command, encodeBody, encodeCommand } from '../../protocol/command.ts';
import { defined } from '../../protocol/defined.ts';
import { type RemoteType, remoteTypes } from '../../protocol/remote/table.ts';
import type { ClockQuality, Message } from '../../protocol/schema/message.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import type { StatusContents } from '../../protocol/schema/status.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { downTopic, upFilter } from '../../protocol/topics.ts';
import { VirtualClock } from '../rig/clock.ts';
import { MemoryLog } from '../rig/log.ts';

/** Simulated time, which passes only when the test advances it. It can replace the clock of the machine. */
export class TestClock extends SystemClock {
  readonly virtual = new VirtualClock();

  override now(): number {
    return this.virtual.now();
  }

  override monotonic(): number {
    return this.virtual.monotonic();
  }

  override after(delay: number, due: () => void): () => void {
    return this.virtual.after(delay, due);
  }

  override quality(): ClockQuality {
    return 'ntp';
  }
}

/** Step of the car's time between polls, ms. */
const STEP = 20;
/** Time for which a car sends frames before a command, ms: the period of its slowest message. */
const TALK = 1_200;

const bench = loadVehicle('bench');

export const finalStates: ReadonlySet<string> = new Set(['Success', 'AlreadyDone', 'Failed']);

/** Creates a key with all rights (`owner`), and one key without each right (`but Doors` may not send Doors). */
export async function makeKeys(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-keys-'));
  await generateKey(folder, 'owner', { algorithm: 'ES256', kinds: [...remoteTypes] });
  for (const type of remoteTypes) {
    const kinds = remoteTypes.filter((other) => other !== type);
    await generateKey(folder, `but-${type}`, { algorithm: 'Ed25519', kinds });
  }
  return folder;
}

/** The remote end of the link, as the test sees it. */
export interface Cloud {
  publish(topic: string, payload: Uint8Array): Promise<void>;
  subscribe(filter: string, receive: (topic: string, payload: Uint8Array) => void): Promise<unknown>;
  close(): Promise<void>;
}

export interface RemoteCarOptions {
  readonly url: string;
  /** Default: a client of the broker at `url`. */
  readonly cloud?: Cloud;
  readonly keys: string;
  /** MQTT version. Default: the version of the broker. */
  readonly protocol?: 4 | 5;
  readonly profile?: (profile: Vehicle['profile']) => Vehicle['profile'];
  /** Content of the ledger before the start. */
  readonly ledger?: (now: number) => Partial<LedgerData>;
  /** Sources in addition to the car's own, on the car's time. */
  readonly sources?: (clock: VirtualClock) => CarOptions['sources'];
  /** Control units that are reached by diagnostics, on the car's time. */
  readonly diagnosed?: (clock: VirtualClock, simulation: SimulatedCar) => NonNullable<CarOptions['requesters']>;
}

export interface OrderOptions extends Partial<Command> {
  /** Name of the key that signs. */
  readonly key?: string;
}

let built = 0;

/** The disk of the machine. A test can make it refuse writes. */
function refusable(): { readonly files: FileSystem; refuses: boolean; written: number } {
  const state = {
    refuses: false,
    written: 0,
    files: {
      ...nodeFileSystem,
      open(path, mode) {
        const file = nodeFileSystem.open(path, mode);
        return {
          path: file.path,
          size: () => file.size(),
          read: (into, position) => file.read(into, position),
          truncate: (length) => file.truncate(length),
          sync: () => file.sync(),
          syncInPlace: () => file.syncInPlace(),
          close: () => file.close(),
          write(data, position) {
            if (state.refuses) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
            state.written += data.byteLength;
            file.write(data, position);
          },
        };
      },
    } satisfies FileSystem as FileSystem,
  };
  return state;
}

export class RemoteCar {
  readonly vin: string;
  readonly clock = new TestClock();
  readonly log = new MemoryLog();
  readonly simulation: SimulatedCar;
  /** All messages of the car, decoded by the schema. */
  readonly messages: Message[] = [];
  readonly data: string = mkdtempSync(join(tmpdir(), 'vigie-remotes-'));
  readonly cloud: Cloud;
  readonly #options: RemoteCarOptions;
  readonly #vehicle: Vehicle;
  readonly #requesters: CarOptions['requesters'];
  readonly #disk = refusable();
  readonly #signers = new Map<string, Promise<CommandSigner>>();
  #car: Car | undefined;

  private constructor(options: RemoteCarOptions, cloud: Cloud) {
    this.#options = options;
    this.cloud = cloud;
    this.vin = `VF3VREMXTE${String(++built).padStart(7, '0')}`;
    const { profile = (same: Vehicle['profile']) => same } = options;
    this.#vehicle = { ...bench, profile: profile(bench.profile) };
    this.simulation = benchCar(bench, this.clock, { scenario: 'parked' });
    this.#requesters = options.diagnosed?.(this.clock.virtual, this.simulation);
  }

  static async start(options: RemoteCarOptions): Promise<RemoteCar> {
    const car = new RemoteCar(options, options.cloud ?? (await CloudClient.connect(options.url)));
    await car.cloud.subscribe(upFilter(car.vin), (_topic, payload) => car.messages.push(decodeMessage(payload)));
    if (options.ledger !== undefined) {
      await beginRecords(car.data, car.log);
      const document = await openDocument(join(car.data, 'remotes.json'), emptyLedger);
      await document.write({ ...emptyLedger, ...options.ledger(car.clock.now()) });
    }
    await car.boot();
    return car;
  }

  /** Starts the agent, also after {@link halt}, and lets the car send frames. */
  async boot(): Promise<void> {
    const { url, keys, protocol = 'auto' } = this.#options;
    const greeted = this.messages.length;
    const options: CarOptions = {
      vin: this.vin,
      vehicle: this.#vehicle,
      data: this.data,
      files: this.#disk.files,
      sources: [this.simulation, ...(this.#options.sources?.(this.clock.virtual) ?? [])],
      sender: this.simulation,
      ...defined({ requesters: this.#requesters }),
      mqtt: { url, protocol },
      backoff: { first: 20, longest: 100 },
      trust: join(keys, 'trust.json'),
      settings: agentSettings({ outbox: { limit: 1_000_000 } }),
      log: this.log,
      clock: this.clock,
    };
    this.#car = await startCar(options);
    await this.until(() => this.messages.slice(greeted).some(({ kind }) => kind === 'hello'));
    await this.pass(TALK);
  }

  /** Stops the agent in order. */
  async halt(): Promise<void> {
    let stopped = this.#car === undefined;
    const done = this.#car?.stop().finally(() => {
      stopped = true;
    });
    this.#car = undefined;
    await this.until(() => stopped);
    await done;
  }

  async close(): Promise<void> {
    await this.halt();
    await this.cloud.close();
    rmSync(this.data, { recursive: true, force: true });
  }

  /** Advances the car's time until the condition holds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.pass(STEP);
  }

  /** Advances time by at most one step per millisecond, so that disk and network keep up. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP) {
      this.clock.virtual.advance(Math.min(STEP, left));
      await setTimeout(1);
    }
  }

  /** From now on the disk refuses messages and state. */
  refuseDisk(): void {
    this.#disk.refuses = true;
  }

  /** Bytes that the agent has written into its data directory. */
  get written(): number {
    return this.#disk.written;
  }

  /** Current Status of the agent. */
  get status(): StatusContents {
    return this.#car?.agent.status.contents() ?? {};
  }

  /** Reports on a command so far. */
  reports(id: string): RemoteReport[] {
    return this.messages.flatMap(({ kind, body }) => {
      const report = body as RemoteReport;
      return kind === 'remote' && report.remoteActionId === id ? [report] : [];
    });
  }

  /** States of a command so far, with the cause of a failure. */
  states(id: string): string[] {
    return this.reports(id).map(({ status, failureCause }) => failureCause ?? status);
  }

  /** A command signed like by a sender. */
  async sign(kind: RemoteType, body: object | Uint8Array, options: OrderOptions = {}): Promise<[string, Uint8Array]> {
    const { key = 'owner', ...members } = options;
    let signer = this.#signers.get(key);
    if (signer === undefined) {
      signer = CommandSigner.open(this.#options.keys, key);
      this.#signers.set(key, signer);
    }
    const id = options.id ?? crypto.randomUUID();
    const issued = this.clock.now();
    const bytes = body instanceof Uint8Array ? body : encodeBody(kind, body);
    const command = { id, vin: this.vin, kind, body: bytes, issued, expires: issued + 60_000, ...members };
    return [id, await (await signer).sign((counter) => encodeCommand({ counter, ...command }))];
  }

  /** Sends a command and returns its id. */
  async send(kind: RemoteType, body: object | Uint8Array, options: OrderOptions = {}): Promise<string> {
    const [id, payload] = await this.sign(kind, body, options);
    await this.cloud.publish(downTopic(this.vin, 'remote'), payload);
    return id;
  }

  /** Sends a command, advances time until it has ended, and returns its states. */
  async order(kind: RemoteType, body: object | Uint8Array, options: OrderOptions = {}): Promise<string[]> {
    const id = await this.send(kind, body, options);
    await this.until(() => this.reports(id).some(({ status }) => finalStates.has(status)));
    return this.states(id);
  }
}
