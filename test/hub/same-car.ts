/** One simulated car with its own interface, and a hub that receives its messages; both on one clock of the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callbackChannels } from '../../adapters/callbacks/index.ts';
import type { Scene, SceneName, SimulatedCar } from '../../adapters/simulated/index.ts';
import type { FrameSource } from '../../agent/ports.ts';
import { type Car, startCar } from '../../assembly/car.ts';
import type { CarOptions } from '../../assembly/car-options.ts';
import { benchCar, benchVehicle } from '../../assembly/simulation.ts';
import { type Hub, startHub } from '../../hub/start/hub.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { TestClock } from '../commands/remote-car.ts';
import { MemoryLog } from '../rig/log.ts';

export const SAME_VIN = 'VF3VGEBENCH000001';

/** A step of time, ms. */
const STEP_MS = 40;
/** Time without frames after which the car has sent everything, ms: whole Status follows ten seconds after the last value turned stale. */
const QUIET_MS = 25_000;

/** Passes frames on unless they are held back. */
class Gate implements FrameSource {
  held = false;
  readonly #source: SimulatedCar;

  constructor(source: SimulatedCar) {
    this.#source = source;
  }

  get buses(): readonly string[] {
    return this.#source.buses;
  }

  start(receive: Parameters<FrameSource['start']>[0]): Promise<void> {
    return this.#source.start((batch) => {
      if (!this.held) receive(batch);
    });
  }

  stop(): Promise<void> {
    return this.#source.stop();
  }
}

export class SameCar {
  readonly clock = new TestClock();
  readonly log = new MemoryLog();
  readonly hubLog = new MemoryLog();
  readonly #folder = mkdtempSync(join(tmpdir(), 'vigie-same-car-'));
  readonly #vehicle = benchVehicle('loop');
  readonly #simulation = benchCar(this.#vehicle, this.clock, { scenario: 'parked' });
  readonly #gate = new Gate(this.#simulation);
  #car: Car | undefined;
  #hub: Hub | undefined;

  async start(options: Partial<CarOptions> = {}): Promise<this> {
    const { clock, log } = this;
    const callbacks = { networks: ['127.0.0.0/8'], allowHttp: true };
    this.#hub = await startHub({
      data: join(this.#folder, 'hub'),
      port: 0,
      http: 0,
      callbacks,
      clock,
      log: this.hubLog,
    });
    const { broker, trust } = this.hub;
    this.#car = await startCar({
      vin: SAME_VIN,
      vehicle: this.#vehicle,
      data: join(this.#folder, 'car'),
      sources: [this.#gate],
      sender: this.#simulation,
      mqtt: { url: broker },
      backoff: { first: 20, longest: 100 },
      trust,
      settings: agentSettings({ outbox: { batch: 2_000 } }),
      notificationChannels: callbackChannels({ ...callbacks, now: () => clock.now() }),
      http: { local: true, port: 0 },
      log,
      clock,
      ...options,
    });
    return this;
  }

  get hub(): Hub {
    if (this.#hub === undefined) throw new Error('the hub is not started');
    return this.#hub;
  }

  get car(): Car {
    if (this.#car === undefined) throw new Error('the car is not started');
    return this.#car;
  }

  get urls(): { readonly car: string; readonly hub: string } {
    return { car: this.car.interface?.url ?? '', hub: this.hub.interface.url };
  }

  play(scene: SceneName): void {
    this.#simulation.play(scene);
  }

  /** Deviates from the scene until {@link release}. */
  inject(changes: Partial<Scene>): void {
    this.#simulation.inject(changes);
  }

  release(): void {
    this.#simulation.release();
  }

  /** Lets time pass, a step a millisecond at most, so that disk and network keep up with it. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.clock.virtual.advance(Math.min(STEP_MS, left));
      await setTimeout(1);
    }
  }

  /** Lets time pass until something holds. */
  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await holds())) await this.pass(STEP_MS);
  }

  /** Lets time pass until `work` is done. */
  async during<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const done = work.finally(() => {
      settled = true;
    });
    done.catch(() => undefined);
    await this.until(() => settled);
    return done;
  }

  /** Holds frames back until the hub has everything that the car has recorded, for `work`; then they come again. */
  async still<T>(work: () => Promise<T>): Promise<T> {
    this.#gate.held = true;
    await this.pass(QUIET_MS);
    await this.until(() => this.car.agent.waiting === 0);
    const result = await work();
    this.#gate.held = false;
    return result;
  }

  async close(): Promise<void> {
    if (this.#car !== undefined) await this.during(this.#car.stop());
    if (this.#hub !== undefined) await this.during(this.#hub.stop());
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
