import type { MessageCodec } from '../../agent/ports.ts';
import { Drive, type Motion } from './drive.ts';
import { Drivetrain } from './drivetrain.ts';
import { CentralLock } from './lock.ts';
import { Noise } from './noise.ts';
import { type Place, Route } from './route.ts';
import { Scenario, type ScenarioName, type Scene } from './scenario.ts';
import type { CarState } from './state.ts';

/** Curvature above which the driver indicates a bend, 1/m. */
const TURN = 0.03;
/** A receiver needs this long after power-on for its first fix, ms. */
const FIRST_FIX = 1_000;
/** How often the slow noise is drawn, ms. */
const SLOW = 1_000;
const DEGREES = 180 / Math.PI;
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
  readonly #drive: Drive;
  readonly #scenario: Scenario;
  readonly #noise: Noise;
  /** Time along the loop stands still for a parked car. */
  readonly #moves: boolean;
  #elapsed: number;
  #odometer: number;
  /** ms since power-on */
  #awake = 0;
  /** Odometer when the ignition was switched on, m. */
  #tripStart: number;

  constructor(codec: MessageCodec, scenario: ScenarioName, state: CarState, obey: boolean) {
    this.#drive = new Drive(this.#route);
    this.#scenario = new Scenario(scenario, this.#drive.duration);
    this.#moves = scenario === 'loop';
    this.#noise = new Noise(state.noise);
    this.#elapsed = state.elapsed % this.#scenario.period;
    this.#odometer = state.odometer;
    this.outside = state.outside;
    this.drivetrain = new Drivetrain(state);
    this.lock = new CentralLock(codec, state.locked, obey);
    this.motion = this.#move();
    this.scene = this.#scene();
    this.place = this.#route.at(this.motion.distance);
    this.#tripStart = this.odometer;
  }

  /** Length of one loop, ms. */
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
    return this.#awake >= FIRST_FIX;
  }

  /** Lets `ms` pass. */
  step(ms: number): void {
    this.#awake += ms;
    this.lock.step(ms);
    if (this.#moves) this.#elapsed += ms;
    if (this.#elapsed >= this.#scenario.period) {
      this.#elapsed -= this.#scenario.period;
      this.#odometer += this.#route.length;
    }
    const ignition = this.scene.ignition;
    this.motion = this.#move();
    this.scene = this.#scene();
    if (ignition === 'Stop' && this.scene.ignition !== 'Stop') this.#tripStart = this.odometer;
    this.place = this.#route.at(this.motion.distance);
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

  #move(): Motion {
    const motion = this.#drive.at(this.#scenario.driving(this.#elapsed));
    return this.#moves ? motion : { distance: motion.distance, speed: 0, acceleration: 0 };
  }

  #scene(): Scene {
    const { distance } = this.motion;
    const next = this.#route.bends.find((bend) => bend.curvature > TURN && bend.to > distance);
    return this.#scenario.at(this.#elapsed, next === undefined ? Number.POSITIVE_INFINITY : next.from - distance);
  }

  /** The wheel turns with the bend, as fast as a driver turns it; yaw follows from the way. */
  #steer(ms: number): void {
    const { distance, speed } = this.motion;
    const bend = this.#route.bends.find((one) => distance >= one.from && distance <= one.to);
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
