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

/** Time for which network management keeps the network awake after a request, ms. */
const WOKEN = 60_000;
/** Curvature above which the driver indicates a bend, 1/m. */
const TURN = 0.03;
/** A receiver needs this long after power-on for its first fix, ms. */
const FIRST_FIX = 1_000;
/** How often the slow noise is drawn, ms. */
const SLOW = 1_000;
const DEGREES = 180 / Math.PI;
/** Charge below which the 12 V battery does not hold its voltage, %. */
const LOW = 30;
/** m/s² */
const GRAVITY = 9.81;
/** m */
const WHEELBASE = 2.7;
/** Degrees of the steering wheel per degree of the road wheels. */
const STEERING_RATIO = 15;
/** How fast the steering wheel is turned, degrees per ms. */
const STEERING_RATE = 0.4;

/** Where and how a car drives. */
export interface Driving {
  /** Corners of its route; without them around the Champ de Mars. */
  readonly corners?: readonly Corner[];
  readonly habits?: LoopHabits;
}

/** The car as physics: what is true of it at the moment it has been stepped to. */
export class SimulatedVehicle {
  readonly units: ControlUnits;
  readonly drivetrain: Drivetrain;
  motion: Motion;
  scene: Scene;
  place: RoutePoint;
  /** degrees/s, left is positive */
  yawRate = 0;
  /** degrees of the steering wheel, left is positive */
  steering = 0;
  outside: number;
  satellites = 12;
  /** V */
  voltage = 12.6;
  readonly #route: Route;
  #scenario: Scenario;
  readonly #noise: Noise;
  readonly #injections = new Injections();
  /** The scene but for what control units make of it. */
  #script: Scene;
  #elapsed: number;
  /** Odometer at the start of the scenario, m. */
  #odometer: number;
  /** ms since power-on or since the network woke up */
  #awake = 0;
  /** Identifier by which the network is woken, and ms that it then still stays awake. */
  readonly #wake: number;
  #woken = 0;
  /** Odometer when the ignition was switched on, m. */
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
    return this.#woken > 0 ? 0 : this.#scenario.asleep(this.#elapsed);
  }

  /** Acceleration measured `later` ms from now, m/s². */
  accelerations(later: number): { readonly longitudinal: number; readonly lateral: number; readonly vertical: number } {
    const { speed, acceleration } = this.#scenario.motion(this.#elapsed + later);
    return { longitudinal: acceleration, lateral: (speed * this.yawRate) / DEGREES, vertical: GRAVITY };
  }

  /** As the speedometer has it, km/h. */
  get speed(): number {
    return this.motion.speed * 3.6 + this.scene.rolling;
  }

  /** A network that sleeps is woken by this frame. */
  wokenBy(frame: OutgoingFrame): boolean {
    return frame.id === this.#wake && !this.#script.deaf.includes('Network');
  }

  /** A frame from the bus, `at` ms of monotonic time. */
  receive(frame: OutgoingFrame, at: number): void {
    if (frame.id === this.#wake && this.#answer('Network') !== undefined) this.#woken = WOKEN;
    this.units.receive(frame, at);
  }

  /** From now on, or from `when` on, this is otherwise than the scenario has it. */
  inject(changes: Partial<Scene>, when?: InjectionTime): void {
    this.#injections.add(changes, when);
  }

  /** Everything is as the scenario has it again, and nothing waits to happen. */
  release(): void {
    this.#injections.clear();
  }

  /** Scene that replaces the scenario. */
  get played(): SceneName | undefined {
    return this.#scenario instanceof Stage ? this.#scenario.name : undefined;
  }

  /** From now on the car does this, from where it is, instead of its scenario. */
  play(name: SceneName): void {
    if (this.#scenario instanceof Stage) this.#scenario.play(name, this.#elapsed);
    else {
      this.#scenario = new Stage(this.#route, name, this.motion);
      this.#elapsed = 0;
    }
  }

  /** Lets `ms` pass. */
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
    // Scenes are not part of the state: the next run starts its scenario again, with the current odometer.
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

  /** m from the start of the route */
  get #along(): number {
    return this.#route.along(this.motion.distance);
  }

  /** Delay of a part after a request, ms. Undefined if it never acts. */
  #answer(part: Part): number | undefined {
    this.#injections.understood(part);
    const { deaf, late } = this.#script;
    return deaf.includes(part) ? undefined : late;
  }

  /** The scenario continues, unless its next event starts a car that cannot be started. */
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

  /** The scene with what was chosen from afar. */
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
    const { powertrain, charging, battery12V } = this.scene;
    const rest = battery12V < LOW ? 11.4 : 12.6;
    this.voltage = this.#noise.around(powertrain === 'Running' || charging ? 14.1 : rest, 0.05);
  }
}
