/** The agent as `vigie run` builds it, with a clock that advances only when this program advances it. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DbcCodec } from '../../adapters/can/dbc/index.ts';
import { ReplayClock } from '../../adapters/clock/replay.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import { type ScenarioName, SimulatedCar } from '../../adapters/simulated/index.ts';
import type { FileSystem } from '../../adapters/store/index.ts';
import type { Agent } from '../../agent/agent.ts';
import type { GivenMonitor } from '../../agent/monitors/desk.ts';
import type { FrameBatch, FrameSender, FrameSource, Log, NamedFrame } from '../../agent/ports.ts';
import { startCar } from '../../assembly/car.ts';
import { beginRecords } from '../../assembly/directory.ts';
import { Configurations } from '../../assembly/generation.ts';
import { Service, Starts } from '../../assembly/service.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import type { Profile } from '../../config/profile.ts';
import { defined } from '../../protocol/defined.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import { agentSettings } from '../../protocol/settings.ts';

/** The system clock, but its time stands still between steps. */
class SteppedClock extends SystemClock {
  readonly #time = new ReplayClock();

  constructor() {
    super();
    this.#time.advanceTo(Math.floor(Date.now() / 1000) * 1000);
  }

  override now(): number {
    super.now();
    return this.#time.now();
  }

  override monotonic(): number {
    super.monotonic();
    return this.#time.monotonic();
  }

  override after(delay: number, due: () => void): () => void {
    return this.#time.after(delay, due);
  }

  override quality(): ClockQuality {
    super.quality();
    return 'ntp';
  }

  /** Advances the time by `ms` in one step. */
  advance(ms: number): void {
    this.#time.advanceTo(this.#time.now() + ms);
  }

  /** Advances the time by `ms` in steps of ten, and in between lets pending work for disk and broker continue. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      this.advance(10);
      await setTimeout(0);
    }
  }

  /** Like {@link pass}, but stops when `done` resolves. After `ms`, waits for `done` without advancing the time. */
  async passUntil<T>(done: Promise<T>, ms: number): Promise<T> {
    let isDone = false;
    const noted = done.finally(() => {
      isDone = true;
    });
    for (let passed = 0; passed < ms && !isDone; passed += 10) await this.pass(10);
    return noted;
  }
}

const log: Log = {
  info: () => undefined,
  warn: (event, fields) => console.error(event, fields),
  error: (event, fields) => console.error(event, fields),
};

export interface CountedCarOptions {
  readonly vin: string;
  /** URL of the broker. */
  readonly broker: string;
  readonly keys: string;
  /** Empty folder for the configuration and the records. */
  readonly folder: string;
  readonly monitors?: readonly GivenMonitor[];
  /** File system for the records. Default: the machine's. */
  readonly files?: FileSystem;
  /**
   * If true, a single frame requests a command: sending a series of frames would take a second, in which a tick would
   * occur. The simulated car does not obey a single frame.
   */
  readonly oneFrame?: true;
}

function inOneFrame(commands: Profile['commands']): Profile['commands'] {
  return Object.fromEntries(
    Object.entries(commands).map(([action, rule]) => [
      action,
      rule.send === undefined ? rule : { ...rule, send: { ...rule.send, for: 0 } },
    ]),
  );
}

/** The agent with the bench car's network, for a parked car and for a driving one. */
export class CountedCar {
  readonly clock = new SteppedClock();
  readonly #vehicle = loadVehicle('bench');
  readonly #codec = new DbcCodec(this.#vehicle.databases);
  #receive: (batch: FrameBatch) => void = () => undefined;
  #stop: () => Promise<void> = async () => undefined;
  /** Frames with which the car answers a frame that commands its lamps. */
  #answer: NamedFrame | undefined;
  /** The simulated car. While it exists, it receives all frames. */
  #simulation: SimulatedCar | undefined;
  #agent: Agent | undefined;

  static async start(options: CountedCarOptions): Promise<CountedCar> {
    const car = new CountedCar();
    await car.#start(options);
    return car;
  }

  async #start({ vin, broker, keys, folder, monitors, files, oneFrame }: CountedCarOptions): Promise<void> {
    const { clock } = this;
    const data = join(folder, 'records');
    mkdirSync(data);
    await beginRecords(data, log);
    const file = join(folder, 'vigie.yaml');
    writeFileSync(
      file,
      `configuration: 1\nvin: ${vin}\nprofile: bench\ndata: ${data}\nmqtt: { url: '${broker}' }\ncan: [{ bus: body, simulated: true }]\n`,
    );
    const configurations = await Configurations.open({ file, data, environment: {}, clock, log, unwritten: {} });
    const { configuration } = await configurations.choose();
    const starts = await Starts.open(data, log);
    const about = { vin, profile: 'bench', data, clock, log, environment: {}, configurations, starts };
    const service = await Service.open(about);
    const source: FrameSource = {
      buses: ['body'],
      start: async (receive) => {
        this.#receive = receive;
      },
      stop: async () => undefined,
    };
    const sender: FrameSender = {
      send: async (frame) => {
        if (this.#simulation !== undefined) await this.#simulation.send(frame);
        else if (this.#answer !== undefined) setImmediate(this.#receive, this.#batch([this.#answer]));
      },
    };
    const { profile } = this.#vehicle;
    const commands = oneFrame === true ? inOneFrame(profile.commands) : profile.commands;
    const car = await startCar({
      vin,
      vehicle: { ...this.#vehicle, profile: { ...profile, commands } },
      data,
      sources: service.frames([source]),
      sender,
      mqtt: { url: broker },
      trust: join(keys, 'trust.json'),
      settings: agentSettings(configuration),
      log,
      clock,
      published: service.published,
      service,
      ...defined({ monitors, files }),
    });
    this.#agent = car.agent;
    this.#stop = async () => {
      await car.stop();
      configurations.close();
      await service.close(true);
    };
  }

  /** Connects the simulated car to the agent for `ms`. */
  async live(scenario: ScenarioName, ms: number, startAt = 0): Promise<void> {
    const simulation = await this.#simulate(scenario, startAt);
    await this.clock.pass(ms);
    await simulation.stop();
  }

  /** Connects the simulated car to the agent permanently. It obeys the agent's commands. */
  async drive(scenario: ScenarioName): Promise<void> {
    this.#simulation = await this.#simulate(scenario, 0);
  }

  /** Number of messages that the broker has not yet acknowledged. */
  get waiting(): number {
    return this.#agent?.waiting ?? 0;
  }

  async #simulate(scenario: ScenarioName, startAt: number): Promise<SimulatedCar> {
    const simulation = new SimulatedCar({ clock: this.clock, codec: this.#codec, scenario, startAt });
    await simulation.start((batch) => this.#receive(batch));
    return simulation;
  }

  /**
   * Returns a batch of `count` frames at the current time. In the n-th frame, the signals have the values of
   * `signals(n)`, and all others are 0.
   */
  frames(message: string, count: number, signals: (n: number) => Readonly<Record<string, number>>): FrameBatch {
    return this.#batch(Array.from({ length: count }, (_, n) => this.#codec.encode(message, signals(n))));
  }

  receive(batch: FrameBatch): void {
    this.#receive(batch);
  }

  /** Sets the frame with which the car answers frames that command its lamps. */
  answer(message: string, signals: Readonly<Record<string, number>>): void {
    this.#answer = this.#codec.encode(message, signals);
  }

  async stop(): Promise<void> {
    await this.#simulation?.stop();
    await this.#stop();
  }

  #batch(frames: readonly NamedFrame[]): FrameBatch {
    const count = frames.length;
    const data = new Uint8Array(count * 8);
    for (const [n, frame] of frames.entries()) data.set(frame.data, n * 8);
    return {
      count,
      at: new Float64Array(count).fill(this.clock.now()),
      id: Uint32Array.from(frames, ({ id }) => id),
      bus: new Uint8Array(count),
      flags: new Uint8Array(count),
      length: Uint8Array.from(frames, ({ data }) => data.length),
      offset: Uint32Array.from(frames, (_, n) => n * 8),
      data,
    };
  }
}
