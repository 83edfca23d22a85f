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

/** Delay in ms above which missed ticks are dropped instead of repeated (a suspended machine). */
const LONGEST_LAG = 1_000;

export interface SimulatedCarOptions {
  readonly clock: Clock;
  /** DBC of the bench car, config/vehicles/bench/bench.dbc. */
  readonly codec: MessageCodec;
  /** `loop` (default): a day in a few minutes, again and again; `parked`: charging at the kerb; `day`: day.ts. */
  readonly scenario?: ScenarioName;
  /** Seed of the noise: the same seed produces the same frames. Default 1. */
  readonly seed?: number;
  /**
   * Time of the scenario in ms at which the car starts; `restore` takes precedence. Default 0; throws `usage.wrong`
   * below.
   */
  readonly startAt?: number;
  /** False: the car accepts valid commands but executes none. Default true. */
  readonly obey?: boolean;
  /** Changes to the initial state of a new car, without `restore`. */
  readonly begin?: Partial<CarState>;
  /** Driver and route; default: the loop of the bench car. */
  readonly driving?: Driving;
  /** A state from {@link SimulatedCar.state}. Throws `input.malformed` if it is invalid. */
  readonly restore?: unknown;
}

/**
 * A car that consists of frames on its bus `body`. Its time advances in ticks of 20 ms of the clock; a batch
 * contains the frames of the last tick, each with the time at which it left the bus.
 */
export class SimulatedCar implements FrameSource, FrameSender {
  readonly buses: readonly string[] = ['body'];
  readonly #clock: Clock;
  readonly #vehicle: SimulatedVehicle;
  readonly #transmitter: SimulatedTransmitter;
  #receive: ((batch: FrameBatch) => void) | undefined;
  #cancel: (() => void) | undefined;
  /** Number of ticks since power-on. */
  #tick = 0;
  /** Monotonic time in ms at which the present tick ends or a sleeping car wakes up. */
  #due = 0;
  /** Duration in ms of the sleep until then; 0 if the car is awake. */
  #sleep = 0;

  constructor(options: SimulatedCarOptions) {
    const { clock, codec, scenario = 'loop', seed = 1, startAt = 0, obey = true, restore, begin, driving } = options;
    const state = restore === undefined ? { ...newCar(seed), elapsed: startAt, ...begin } : parseState(restore);
    if (!(startAt >= 0)) throw new VigieError('usage.wrong', `startAt is ${startAt}, not a time from 0 ms up`);
    this.#clock = clock;
    this.#vehicle = new SimulatedVehicle(codec, scenario, state, obey, driving);
    this.#transmitter = new SimulatedTransmitter(codec);
  }

  /** Length in ms of the scenario. */
  get period(): number {
    return this.#vehicle.period;
  }

  /** Number of requests that the control units have accepted, and of frames that they ignored as invalid. */
  get commands(): { readonly accepted: number; readonly rejected: number } {
    return this.#vehicle.units.counts;
  }

  /** Destinations that the navigation has received so far. */
  get destination(): readonly CarPosition[] {
    return this.#vehicle.units.navigator.positions;
  }

  /**
   * Deviates from the scenario: actions of people at the car, or a fault of the car (scenario.ts). Starts with the next
   * tick, or at `when`, and lasts until {@link release}; it is not part of {@link state}.
   */
  inject(changes: Partial<Scene>, when?: InjectionTime): void {
    this.#vehicle.inject(changes, when);
  }

  /** Removes all injected deviations, including pending ones. */
  release(): void {
    this.#vehicle.release();
  }

  /** Scene that replaces the scenario. */
  get played(): SceneName | undefined {
    return this.#vehicle.played;
  }

  /**
   * Plays this scene instead of the scenario, from the next tick and the present position on. If the scene begins at
   * rest, a moving car brakes first. The scene is not part of {@link state}, but its distance is.
   */
  play(name: SceneName): void {
    const slept = this.#receive !== undefined && this.#sleep > 0;
    if (slept) this.#oversleep();
    this.#vehicle.play(name);
    if (!slept) return;
    this.#await(this.#due - this.#sleep);
    this.#wait();
  }

  /** Rejects with `usage.wrong` if the car was already started. */
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
   * Rejects with `command.actuation` if the car is off, has no such bus, cannot accept such a frame, or sleeps and the
   * frame does not wake it.
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

  /** Returns the state for `restore` of a later car: position, odometer, levels, temperatures, lock. */
  state(): CarState {
    return this.#vehicle.state();
  }

  #wait(): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(Math.max(0, this.#due - this.#clock.monotonic()), () => this.#run());
  }

  /** Sets the time of the next event: the end of the tick that begins at `begin`, or the wake-up of a sleeping car. */
  #await(begin: number): void {
    // A car wakes up at a tick.
    this.#sleep = Math.ceil(this.#vehicle.asleep / TICK) * TICK;
    this.#due = begin + (this.#sleep > 0 ? this.#sleep : TICK);
  }

  /** Runs every tick that has passed, one batch each, so that frames keep their intervals. */
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

  /** Advances by the whole ticks that the car has slept so far. */
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

  /** Runs one tick that began at `begin` in UTC ms. */
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
