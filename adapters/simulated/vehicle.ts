import type { MessageCodec } from '../../agent/ports.ts';
import { day } from './day.ts';
import { Day } from './day-scenario.ts';
import type { Motion } from './drive.ts';
import { Drivetrain } from './drivetrain.ts';
import { CentralLock } from './lock.ts';
import { Loop } from './loop.ts';
import { Noise } from './noise.ts';
import { type Place, Route } from './route.ts';
import type { Scenario, ScenarioName, Scene } from './scenario.ts';
import type { CarState } from './state.ts';

/** Curvature above which the driver indicates a bend, 1/m. */
const TURN = 0.03;
/** A receiver needs this long after power-on for its first fix, ms. */
const FIRST_FIX = 1_000;
/** How often the slow noise is drawn, ms. */
const SLOW = 1_000;
const DEGREES = 180 / Math.PI;
/** m/s² */
const GRAVITY = 9.81;
/** m */
const WHEELBASE = 2.7;
/** Degrees of the steering wheel per degree of the road wheels. */
const STEERING_RATIO = 15;
/** How fast the steering wheel is turned, degrees per ms. */
const STEERING_RATE = 0.4;

/** The car as physics: what is true of it at the moment it has been stepped to. */
export class Vehicle {
  readonly lock: CentralLock;
  readonly drivetrain: Drivetrain;
  motion: Motion;
  scene: Scene;
  place: Place;
  /** degrees/s, left is positive */
  yawRate = 0;
  /** degrees of the steering wheel, left is positive */
  steering = 0;
  outside: number;
  satellites = 12;
  /** V */
  voltage = 12.6;
  readonly #route = new Route();
  readonly #scenario: Scenario;
  readonly #noise: Noise;
  #elapsed: number;
  /** At the begin of the scenario, m. */
  #odometer: number;
  /** ms since power-on or since the network woke up */
  #awake = 0;
  /** Odometer when the ignition was switched on, m. */
  #tripStart: number;

  constructor(codec: MessageCodec, scenario: ScenarioName, state: CarState, obey: boolean) {
    this.#scenario = scenario === 'day' ? new Day(this.#route, day) : new Loop(this.#route, scenario === 'loop');
    this.#noise = new Noise(state.noise);
    this.#elapsed = state.elapsed % this.#scenario.period;
    this.#odometer = state.odometer;
    this.outside = state.outside;
    this.drivetrain = new Drivetrain(state);
    this.lock = new CentralLock(codec, state.locked, obey);
    this.motion = this.#scenario.motion(this.#elapsed);
    this.scene = this.#scene();
    this.place = this.#route.at(this.#along);
    this.#tripStart = this.odometer;
  }

  /** Length of the scenario, ms. */
  get period(): number {
    return this.#scenario.period;
  }

  /** m */
  get odometer(): number {
    return this.#odometer + this.motion.distance;
  }

  /** m since the ignition was switched on */
  get trip(): number {
    return this.odometer - this.#tripStart;
  }

  /** The receiver has a fix. */
  get located(): boolean {
    return this.#awake >= FIRST_FIX && this.scene.sky;
  }

  /** Time until the network wakes up, ms; 0: it is awake. */
  get asleep(): number {
    return this.#scenario.asleep(this.#elapsed);
  }

  /** What the accelerometer measures `later` ms from now, m/s². */
  accelerations(later: number): { readonly longitudinal: number; readonly lateral: number; readonly vertical: number } {
    const { speed, acceleration } = this.#scenario.motion(this.#elapsed + later);
    return { longitudinal: acceleration, lateral: (speed * this.yawRate) / DEGREES, vertical: GRAVITY };
  }

  /** Lets `ms` pass. */
  step(ms: number): void {
    this.#awake += ms;
    this.lock.step(ms);
    if (this.#scenario.passes) this.#elapsed += ms;
    if (this.#elapsed >= this.#scenario.period) {
      this.#elapsed -= this.#scenario.period;
      this.#odometer += this.#scenario.way;
    }
    const { ignition, locked } = this.scene;
    this.motion = this.#scenario.motion(this.#elapsed);
    this.scene = this.#scene();
    if (ignition === 'Stop' && this.scene.ignition !== 'Stop') this.#tripStart = this.odometer;
    if (this.scene.locked !== undefined && this.scene.locked !== locked) this.lock.locked = this.scene.locked;
    if (this.scene.network === 'Asleep') this.#awake = 0;
    this.place = this.#route.at(this.#along);
    this.#steer(ms);
    this.drivetrain.step(ms / 1000, this.motion, this.scene, this.outside);
    if (this.#awake % SLOW < ms) this.#drift();
  }

  state(): CarState {
    const { charge, fuel, burnt, coolant, oil, engineRunning } = this.drivetrain;
    return {
      version: 1,
      elapsed: this.#elapsed,
      odometer: this.#odometer,
      charge,
      fuel,
      burnt,
      coolant,
      oil,
      outside: this.outside,
      engineRunning,
      locked: this.lock.locked,
      noise: this.#noise.state,
    };
  }

  /** m from the start of the route */
  get #along(): number {
    return this.#route.along(this.motion.distance);
  }

  #scene(): Scene {
    const along = this.#along;
    const next = this.#route.bends.find((bend) => bend.curvature > TURN && bend.to > along);
    const toBend = next === undefined ? Number.POSITIVE_INFINITY : next.from - along;
    return this.#scenario.scene(this.#elapsed, this.motion, toBend);
  }

  /** The wheel turns with the bend, as fast as a driver turns it; yaw follows from the way. */
  #steer(ms: number): void {
    const { speed } = this.motion;
    const along = this.#along;
    const bend = this.#route.bends.find((one) => along >= one.from && along <= one.to);
    const curvature = bend?.curvature ?? 0;
    const goal = Math.atan(WHEELBASE * curvature) * DEGREES * STEERING_RATIO;
    this.steering += Math.max(-STEERING_RATE * ms, Math.min(STEERING_RATE * ms, goal - this.steering));
    this.yawRate = speed * curvature * DEGREES;
  }

  /** Weather, receiver and 12 V battery wander a little every second. */
  #drift(): void {
    this.outside = Math.min(17, Math.max(11, this.#noise.around(this.outside, 0.05)));
    this.satellites = Math.round(this.#noise.around(12, 2));
    this.voltage = this.#noise.around(this.scene.powertrain === 'Running' || this.scene.charging ? 14.1 : 12.6, 0.05);
  }
}
