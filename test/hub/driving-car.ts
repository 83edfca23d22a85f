/** The real agent in a simulated car that drives its loop on simulated time, at the broker of a hub. */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SystemClock } from '../../adapters/clock/system.ts';
import type { SimulatedCar } from '../../adapters/simulated/index.ts';
import { type Car, startCar } from '../../assembly/car.ts';
import type { CarOptions } from '../../assembly/car-options.ts';
import { benchCar, benchVehicle } from '../../assembly/simulation.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { defined } from '../../protocol/defined.ts';
import type { Message } from '../../protocol/schema/message.ts';
import type { StatusContents } from '../../protocol/schema/status.ts';
import { TestClock } from '../commands/remote-car.ts';
import { MemoryLog } from '../rig/log.ts';

/** Step of the car's time between polls, ms. */
const STEP = 50;

export interface DrivingCarOptions {
  readonly vin: string;
  readonly url: string;
  /** Broker options, which replace `url` if given. */
  readonly mqtt?: CarOptions['mqtt'];
  readonly scenario?: 'loop' | 'parked';
  /** File with the keys that may command the car. */
  readonly trust?: string;
  /** Uses the machine's wall clock, which commands of a hub need. Default: simulated time. */
  readonly machineTime?: true;
  /** Simulated clock shared with other parts of the test. */
  readonly clock?: TestClock;
}

export class DrivingCar {
  readonly vin: string;
  readonly #clock: SystemClock | TestClock;
  readonly log = new MemoryLog();
  /** Messages that the hub has acknowledged, in that order. */
  readonly acknowledged: { readonly payload: Uint8Array; readonly message: Message }[] = [];
  readonly #data = mkdtempSync(join(tmpdir(), 'vigie-driving-'));
  readonly #options: DrivingCarOptions;
  readonly #simulation: SimulatedCar;
  #car: Car | undefined;

  constructor(options: DrivingCarOptions) {
    this.vin = options.vin;
    this.#options = options;
    this.#clock = options.machineTime ? new SystemClock() : (options.clock ?? new TestClock());
    const { scenario = 'loop' } = options;
    this.#simulation = benchCar(benchVehicle(scenario), this.#clock, { scenario });
  }

  async start(): Promise<this> {
    const { vin, url, mqtt = { url }, scenario = 'loop', trust } = this.#options;
    const options: CarOptions = {
      vin,
      vehicle: benchVehicle(scenario),
      data: this.#data,
      sources: [this.#simulation],
      sender: this.#simulation,
      mqtt: { ...mqtt, protocol: 4 },
      backoff: { first: 20, longest: 100 },
      ...defined({ trust }),
      log: this.log,
      clock: this.#clock,
      published: (_topic, payload) =>
        this.acknowledged.push({ payload: payload.slice(), message: decodeMessage(payload) }),
    };
    this.#car = await startCar(options);
    return this;
  }

  /** Current Status of the agent. */
  get status(): StatusContents {
    return this.#car?.agent.status.contents() ?? {};
  }

  /**
   * Advances the car's time until the condition holds, at most one step a millisecond, so that disk and network keep
   * up.
   */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.#clock instanceof TestClock) this.#clock.virtual.advance(STEP);
      await setTimeout(1);
    }
  }

  /** Advances the car's time while `work` runs. Resolves with its result. */
  async during<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const done = work.finally(() => {
      settled = true;
    });
    done.catch(() => undefined);
    await this.until(() => settled);
    return done;
  }

  /** Resolves when more than `already` ended trips have been acknowledged. */
  async untilTrip(already = 0): Promise<void> {
    await this.until(() => {
      const done = this.acknowledged.filter(({ message }) => message.kind === 'trip' && message.body.done === true);
      return done.length > already;
    });
  }

  /** Stops the agent in an orderly way. */
  async stop(): Promise<void> {
    const car = this.#car;
    this.#car = undefined;
    if (car !== undefined) await this.during(car.stop());
  }

  /** Stops the agent and empties its data directory, like a new memory card. */
  async wipe(): Promise<void> {
    await this.stop();
    rmSync(this.#data, { recursive: true, force: true });
    mkdirSync(this.#data);
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#data, { recursive: true, force: true });
  }
}
