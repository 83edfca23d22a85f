import type { MessageCodec, OutgoingFrame } from '../../agent/ports.ts';
import { ControlUnits } from './control-units.ts';
import { day } from './day.ts';
import { Day } from './day-scenario.ts';
import type { Motion } from './drive.ts';
import { Drivetrain, USABLE } from './drivetrain.ts';
import { Injections, type InjectionTime } from './injections.ts';
import { Loop, type LoopHabits } from './loop.ts';
import { Noise } from './noise.ts';
import { type Corner, Route, type RoutePoint } from './route.ts';
import type { Part, Scenario, ScenarioName, Scene } from './scenario.ts';
import { type SceneName, Stage } from './stage.ts';
import type { CarState } from './state.ts';

/** Time in ms for which network management keeps the network awake after a request. */
const WOKEN = 60_000;
/** Curvature in 1/m of a bend above which the driver indicates. */
const TURN = 0.03;
/** Time in ms from power-on of a receiver to its first fix. */
const FIRST_FIX = 1_000;
/** Interval in ms of new values of the slow noise. */
const SLOW = 1_000;
const DEGREES = 180 / Math.PI;
/** Charge in % below which the 12 V battery loses voltage. */
const LOW = 30;
/** Gravity in m/s². */
const GRAVITY = 9.81;
/** Wheelbase in m. */
const WHEELBASE = 2.7;
/** Degrees of the steering wheel per degree of the road wheels. */
const STEERING_RATIO = 15;
/** Speed of turning the steering wheel in degrees per ms. */
const STEERING_RATE = 0.4;

/** Route and driver of a car. */
export interface Driving {
  /** Corners of the route; default: around the Champ de Mars. */
  readonly corners?: readonly Corner[];
  readonly habits?: LoopHabits;
}

/** The physics of the car: its state at the time of the last step. */
export class SimulatedVehicle {
  readonly units: ControlUnits;
  readonly drivetrain: Drivetrain;
  motion: Motion;
  scene: Scene;
  place: RoutePoint;
  /** Yaw rate in degrees/s; left is positive. */
  yawRate = 0;
  /** Angle of the steering wheel in degrees; left is positive. */
  steering = 0;
  outside: number;
  satellites = 12;
  /** Voltage in V. */
  voltage = 12.6;
  readonly #route: Route;
  #scenario: Scenario;
  readonly #noise: Noise;
  readonly #injections = new Injections();
  /** The scene before the effects of control units. */
  #script: Scene;
  #elapsed: number;
  /** Odometer in m at the start of the scenario. */
  #odometer: number;
  /** Time in ms since power-on or since the network woke up. */
  #awake = 0;
  /** Identifier that wakes the network, and the time in ms that it then remains awake. */
  readonly #wake: number;
  #woken = 0;
  /** Odometer in m at the time when the ignition was switched on. */
  #tripStart: number;

  constructor(codec: MessageCodec, scenario: ScenarioName, state: CarState, obey: boolean, driving: Driving = {}) {
    const { corners, habits } = driving;
    this.#route = new Route(corners);
    this.#scenario =
      scenario === 'day' ? new Day(this.#route, day) : new Loop(this.#route, scenario === 'loop', habits);
    this.#noise = new Noise(state.noise);
    this.#wake = codec.encode('NETWORK_MANAGEMENT', {}).id;
    this.#elapsed = state.elapsed % this.#scenario.period;
    this.#odometer = state.odometer;
    this.outside = state.outside;
    this.units = new ControlUnits(codec, state, (part) => (obey ? this.#answer(part) : undefined));
    this.drivetrain = new Drivetrain(state, this.units.charger);
    this.motion = this.#scenario.motion(this.#elapsed);
    this.#script = this.#scene();
    this.scene = this.#effective();
    this.place = this.#route.at(this.#along);
    this.#tripStart = this.odometer;
  }

  /** Length in ms of the scenario. */
  get period(): number {
    return this.#scenario.period;
  }

  /** Odometer in m. */
  get odometer(): number {
    return this.#odometer + this.motion.distance;
  }

  /** Distance in m since the ignition was switched on. */
  get trip(): number {
    return this.odometer - this.#tripStart;
  }

  /** True if the receiver has a fix. */
  get located(): boolean {
    return this.#awake >= FIRST_FIX && this.scene.sky;
  }

  /** Time in ms until the network wakes up; 0 if it is awake. */
  get asleep(): number {
    return this.#woken > 0 ? 0 : this.#scenario.asleep(this.#elapsed);
  }

  /** Returns the acceleration in m/s² `later` ms from now. */
  accelerations(later: number): { readonly longitudinal: number; readonly lateral: number; readonly vertical: number } {
    const { speed, acceleration } = this.#scenario.motion(this.#elapsed + later);
    return { longitudinal: acceleration, lateral: (speed * this.yawRate) / DEGREES, vertical: GRAVITY };
  }

  /** Speed on the speedometer in km/h. */
  get speed(): number {
    return this.motion.speed * 3.6 + this.scene.rolling;
  }

  /** Returns true if this frame wakes a sleeping network. */
  wokenBy(frame: OutgoingFrame): boolean {
    return frame.id === this.#wake && !this.#script.deaf.includes('Network');
  }

  /** Processes a frame from the bus at monotonic time `at` in ms. */
  receive(frame: OutgoingFrame, at: number): void {
    if (frame.id === this.#wake && this.#answer('Network') !== undefined) this.#woken = WOKEN;
    this.units.receive(frame, at);
  }

  /** Deviates from the scenario, now or from `when` on. */
  inject(changes: Partial<Scene>, when?: InjectionTime): void {
    this.#injections.add(changes, when);
  }

  /** Removes all deviations from the scenario, including pending ones. */
  release(): void {
    this.#injections.clear();
  }

  /** Scene that replaces the scenario. */
  get played(): SceneName | undefined {
    return this.#scenario instanceof Stage ? this.#scenario.name : undefined;
  }

  /** Plays this scene instead of the scenario, from the present position on. */
  play(name: SceneName): void {
    if (this.#scenario instanceof Stage) this.#scenario.play(name, this.#elapsed);
    else {
      this.#scenario = new Stage(this.#route, name, this.motion);
      this.#elapsed = 0;
    }
  }

  /** Advances by `ms`. */
  step(ms: number): void {
    this.#awake += ms;
    this.#woken = Math.max(0, this.#woken - ms);
    this.#injections.step(ms);
    const { ignition, locked } = this.scene;
    const before = this.#script;
    this.#pass(ms);
    this.units.step(ms, {
      before,
      after: this.#script,
      scene: this.#script,
      level: (100 * this.drivetrain.charge) / USABLE,
      speed: this.motion.speed * 3.6 + this.#script.rolling,
    });
    this.scene = this.#effective();
    if (ignition === 'Stop' && this.scene.ignition !== 'Stop') this.#tripStart = this.odometer;
    if (this.scene.locked !== undefined && this.scene.locked !== locked) this.units.lock.on = this.scene.locked;
    if (this.scene.network === 'Asleep') this.#awake = 0;
    this.place = this.#route.at(this.#along);
    this.#steer(ms);
    this.drivetrain.step(ms / 1000, this.motion, this.scene, this.outside);
    if (this.#awake % SLOW < ms) this.#drift();
  }

  state(): CarState {
    const { charge, fuel, burnt, coolant, oil, engineRunning } = this.drivetrain;
    // Scenes are not part of the state: the next run restarts its scenario, with the present odometer.
    const scripted = this.played === undefined;
    return {
      version: 1,
      elapsed: scripted ? this.#elapsed : 0,
      odometer: scripted ? this.#odometer : this.odometer,
      charge,
      fuel,
      burnt,
      coolant,
      oil,
      outside: this.outside,
      engineRunning,
      locked: this.units.lock.on,
      immobilized: this.units.immobilizer.on,
      chargeLevel: this.units.charger.level,
      chargePartial: this.units.charger.partial,
      noise: this.#noise.state,
    };
  }

  /** Position in m from the start of the route. */
  get #along(): number {
    return this.#route.along(this.motion.distance);
  }

  /** Returns the delay in ms of a part after a request, or undefined if it never acts. */
  #answer(part: Part): number | undefined {
    this.#injections.understood(part);
    const { deaf, late } = this.#script;
    return deaf.includes(part) ? undefined : late;
  }

  /** Advances the scenario, unless its next event starts a car that is immobilized. */
  #pass(ms: number): void {
    const { period, passes, way } = this.#scenario;
    const [elapsed, odometer] = [this.#elapsed, this.#odometer];
    if (passes) this.#elapsed += ms;
    if (this.#elapsed >= period) {
      this.#elapsed -= period;
      this.#odometer += way;
    }
    this.motion = this.#scenario.motion(this.#elapsed);
    const next = this.#scene();
    if (this.units.immobilizer.on && this.scene.powertrain === 'NotRunning' && next.powertrain !== 'NotRunning') {
      [this.#elapsed, this.#odometer] = [elapsed, odometer];
      this.motion = this.#scenario.motion(elapsed);
      this.#script = { ...this.#scene(), ignition: 'StartUp', powertrain: 'NotRunning' };
    } else this.#script = next;
  }

  /** Returns the scene with the effects of remote commands. */
  #effective(): Scene {
    const charging = this.units.charger.charging(this.#script);
    const network = this.#woken > 0 ? 'Awake' : this.#script.network;
    const same = charging === this.#script.charging && network === this.#script.network;
    return same ? this.#script : { ...this.#script, charging, network };
  }

  #scene(): Scene {
    const along = this.#along;
    const next = this.#route.bends.find((bend) => bend.curvature > TURN && bend.to > along);
    const toBend = next === undefined ? Number.POSITIVE_INFINITY : next.from - along;
    return this.#injections.applied(this.#scenario.scene(this.#elapsed, this.motion, toBend));
  }

  /** Turns the steering wheel with the bend, as fast as a driver; the yaw rate results from the route. */
  #steer(ms: number): void {
    const { speed } = this.motion;
    const along = this.#along;
    const bend = this.#route.bends.find((one) => along >= one.from && along <= one.to);
    const curvature = bend?.curvature ?? 0;
    const goal = Math.atan(WHEELBASE * curvature) * DEGREES * STEERING_RATIO;
    this.steering += Math.max(-STEERING_RATE * ms, Math.min(STEERING_RATE * ms, goal - this.steering));
    this.yawRate = speed * curvature * DEGREES;
  }

  /** Varies weather, receiver and 12 V battery a little every second. */
  #drift(): void {
    this.outside = Math.min(17, Math.max(11, this.#noise.around(this.outside, 0.05)));
    this.satellites = Math.round(this.#noise.around(12, 2));
    const { powertrain, charging, battery12V } = this.scene;
    const rest = battery12V < LOW ? 11.4 : 12.6;
    this.voltage = this.#noise.around(powertrain === 'Running' || charging ? 14.1 : rest, 0.05);
  }
}
