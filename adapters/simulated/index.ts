import {
  type Clock,
  FD,
  type FrameBatch,
  type FrameSender,
  type FrameSource,
  type MessageCodec,
  type OutgoingFrame,
} from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { InjectionTime } from './injections.ts';
import type { CarPosition } from './navigator.ts';
import type { ScenarioName, Scene } from './scenario.ts';
import { type SceneName, sceneNames } from './stage.ts';
import { type CarState, newCar, parseState } from './state.ts';
import { SimulatedTransmitter, TICK } from './transmitter.ts';
import { type Driving, SimulatedVehicle } from './vehicle.ts';

export type { CarState, InjectionTime, ScenarioName, Scene, SceneName };
export { sceneNames };

/** Ticks that were missed for longer than this (a suspended machine) are not made up for, ms. */
const LONGEST_LAG = 1_000;

export interface SimulatedCarOptions {
  readonly clock: Clock;
  /** DBC of the bench car, config/vehicles/bench/bench.dbc. */
  readonly codec: MessageCodec;
  /** `loop` (default): a day in a few minutes, again and again; `parked`: charging at the kerb; `day`: day.ts. */
  readonly scenario?: ScenarioName;
  /** Seed of the noise: the same seed produces the same frames. Default 1. */
  readonly seed?: number;
  /** Where in the scenario the car begins, ms; `restore` goes before it. Default 0; throws `usage.wrong` below. */
  readonly startAt?: number;
  /** False: the car takes valid commands but carries none out. Default true. */
  readonly obey?: boolean;
  /** Members of the state in which a car without `restore` begins that differ from those of a new one. */
  readonly begin?: Partial<CarState>;
  /** Where and how it drives; by default the loop of the bench car. */
  readonly driving?: Driving;
  /** A state from {@link SimulatedCar.state}. Throws `input.malformed` if it is not one. */
  readonly restore?: unknown;
}

/**
 * A car that exists as frames on its bus `body`. Its own time advances in ticks of 20 ms of the clock; a batch
 * holds the frames of the tick that has just passed, each with the moment it left the bus.
 */
export class SimulatedCar implements FrameSource, FrameSender {
  readonly buses: readonly string[] = ['body'];
  readonly #clock: Clock;
  readonly #vehicle: SimulatedVehicle;
  readonly #transmitter: SimulatedTransmitter;
  #receive: ((batch: FrameBatch) => void) | undefined;
  #cancel: (() => void) | undefined;
  /** Ticks since power-on. */
  #tick = 0;
  /** Monotonic moment when the present tick ends, or a car that sleeps wakes up. */
  #due = 0;
  /** ms that the car will have slept then; 0 for one that is awake. */
  #sleep = 0;

  constructor(options: SimulatedCarOptions) {
    const { clock, codec, scenario = 'loop', seed = 1, startAt = 0, obey = true, restore, begin, driving } = options;
    const state = restore === undefined ? { ...newCar(seed), elapsed: startAt, ...begin } : parseState(restore);
    if (!(startAt >= 0)) throw new VigieError('usage.wrong', `startAt is ${startAt}, not a time from 0 ms up`);
    this.#clock = clock;
    this.#vehicle = new SimulatedVehicle(codec, scenario, state, obey, driving);
    this.#transmitter = new SimulatedTransmitter(codec);
  }

  /** Length of the scenario, ms. */
  get period(): number {
    return this.#vehicle.period;
  }

  /** Command frames as the control units saw them: requests understood, frames ignored as invalid. */
  get commands(): { readonly accepted: number; readonly rejected: number } {
    return this.#vehicle.units.counts;
  }

  /** The destinations that the navigation has received so far. */
  get destination(): readonly CarPosition[] {
    return this.#vehicle.units.navigator.positions;
  }

  /**
   * Makes something otherwise than the scenario has it: what people at the car do, or a fault of it (scenario.ts).
   * It happens with the next tick, or at `when`, and stays until {@link release}; it is not part of {@link state}.
   */
  inject(changes: Partial<Scene>, when?: InjectionTime): void {
    this.#vehicle.inject(changes, when);
  }

  /** Takes back everything that was injected, also what has not happened yet. */
  release(): void {
    this.#vehicle.release();
  }

  /** Scene that replaces the scenario. */
  get played(): SceneName | undefined {
    return this.#vehicle.played;
  }

  /**
   * Does this from the next tick on, from where it is, instead of its scenario: a car that drives brakes before what
   * begins at rest. It is not part of {@link state}, but its way is.
   */
  play(name: SceneName): void {
    const slept = this.#receive !== undefined && this.#sleep > 0;
    if (slept) this.#oversleep();
    this.#vehicle.play(name);
    if (!slept) return;
    this.#await(this.#due - this.#sleep);
    this.#wait();
  }

  /** Rejects with `usage.wrong` when it has been started already. */
  async start(receive: (batch: FrameBatch) => void): Promise<void> {
    if (this.#receive !== undefined) throw new VigieError('usage.wrong', 'the simulated car has been started already');
    this.#receive = receive;
    this.#await(this.#clock.monotonic());
    this.#wait();
  }

  async stop(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#receive = undefined;
  }

  /**
   * Rejects with `command.actuation` when the car is off, has no such bus, cannot take such a frame, or sleeps and is
   * not woken by it.
   */
  async send(frame: OutgoingFrame): Promise<void> {
    if (this.#receive === undefined) throw refusal('the simulated car is not running');
    if (!this.buses.includes(frame.bus)) throw refusal(`it has no bus ${frame.bus}, only ${this.buses.join(', ')}`);
    if ((frame.flags & FD) !== 0 || frame.data.length > 8) throw refusal('its bus carries classic frames only');
    if (this.#sleep > 0) {
      if (!this.#vehicle.wokenBy(frame)) throw refusal('its bus sleeps');
      this.#oversleep();
    }
    this.#vehicle.receive(frame, this.#clock.monotonic());
    if (this.#sleep > 0) {
      this.#await(this.#due - this.#sleep);
      this.#wait();
    }
  }

  /** State for `restore` of a later car: position, odometer, levels, temperatures, lock. */
  state(): CarState {
    return this.#vehicle.state();
  }

  #wait(): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(Math.max(0, this.#due - this.#clock.monotonic()), () => this.#run());
  }

  /** Sets what comes next: the end of the tick that begins at `begin`, or, of a car that sleeps, its waking up. */
  #await(begin: number): void {
    // A car wakes up with a tick.
    this.#sleep = Math.ceil(this.#vehicle.asleep / TICK) * TICK;
    this.#due = begin + (this.#sleep > 0 ? this.#sleep : TICK);
  }

  /** Makes up for every tick that has passed, one batch each, so that frames keep their distance in time. */
  #run(): void {
    const now = this.#clock.monotonic();
    const wall = this.#clock.now();
    if (now - this.#due > LONGEST_LAG) this.#due = now;
    try {
      while (this.#due <= now && this.#receive !== undefined) {
        if (this.#sleep > 0) this.#wake();
        else this.#tell(wall - (now - this.#due) - TICK);
      }
    } finally {
      // An error of a receiver does not stop the bus.
      if (this.#receive !== undefined) this.#wait();
    }
  }

  /** Lets the whole ticks pass that it has slept so far. */
  #oversleep(): void {
    const slept = this.#sleep - Math.max(0, this.#due - this.#clock.monotonic());
    const ticks = Math.floor(slept / TICK);
    this.#vehicle.step(ticks * TICK);
    this.#tick += ticks;
    this.#sleep -= ticks * TICK;
  }

  #wake(): void {
    this.#vehicle.step(this.#sleep);
    this.#tick += this.#sleep / TICK;
    this.#await(this.#due);
  }

  /** One tick that began at `begin`, UTC ms. */
  #tell(begin: number): void {
    const batch = this.#transmitter.frames(this.#vehicle, this.#tick, begin);
    this.#vehicle.step(TICK);
    this.#tick++;
    this.#await(this.#due);
    if (batch.count > 0) this.#receive?.(batch);
  }
}

function refusal(why: string): VigieError {
  return new VigieError('command.actuation', `the frame was not sent: ${why}`, { where: 'simulated car' });
}
