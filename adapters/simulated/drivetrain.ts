import type { Charging } from './charger.ts';
import type { Motion } from './drive.ts';
import type { Scene } from './scenario.ts';
import type { CarState } from './state.ts';

/** Capacity of the traction battery when it was new, in Wh. */
export const CAPACITY = 12_400;
/** Share of the capacity that remains. */
export const HEALTH = 0.97;
export const USABLE = CAPACITY * HEALTH;
/** Capacity of the tank in L. */
export const TANK = 42;
/** Mass in kg; air resistance in N per (m/s)²; rolling resistance as a share of the weight. */
const MASS = 1_750;
const DRAG = 0.42;
const ROLLING = 0.01;
const GRAVITY = 9.81;
/** Share of the battery's energy that reaches the wheels. */
const ELECTRIC_EFFICIENCY = 0.86;
/** Share of the braking energy at the wheels that reaches the battery. */
const RECUPERATED = 0.6;
/** Largest braking power in W. No driver brakes harder, so the energy of a collision does not charge the battery. */
const MOST_BRAKED = 60_000;
const ENGINE_EFFICIENCY = 0.33;
/** Energy density of petrol in Wh/L. */
const PETROL = 8_900;
/** Electric consumption in Wh/km for estimates of the range. */
const PER_KILOMETRE = 165;
/** Petrol consumption in L/km for estimates of the range. */
const LITRES_PER_KILOMETRE = 0.055;
/** Consumption at idle in L/h. */
const IDLE = 0.5;
/** Power of lamps, pumps and heating in W while the ignition is on. */
const CONSUMERS = 350;
/** Power of slow and quick charging at the plug in W. */
const CHARGER = { slow: 7_400, quick: 40_000 };
/** Power limit of each charging level in W. Level 0 has no limit. */
const LEVELS = [Number.POSITIVE_INFINITY, 1_800, 3_700, 7_400, 11_000, 40_000] as const;
/** Share of the battery that a partial charge fills. */
const PARTIAL = 0.8;
/** Share of the power at the plug that reaches the cells. */
const CHARGER_EFFICIENCY = 0.92;
/** Speeds in m/s above which the engine drives and below which it stops (45 and 36 km/h). */
const ENGINE_ON = 12.5;
const ENGINE_OFF = 10;
/** The engine starts to charge the battery below the first share of its capacity, and stops above the second. */
const RESERVE_LOW = 0.2;
const RESERVE_HIGH = 0.24;
/** Power in W with which the engine charges the battery. */
const RESERVE_POWER = 4_000;
/** A parked car with less than the first share of its tank is refuelled to the second. */
const REFUEL_BELOW = 0.08;
const REFUELLED = 0.9;
/** Tyre radius in m; ratios of the gears 1 to 8, of the final drive and of the electric motor. */
const TYRE = 0.32;
const GEARS = [4.7, 3.1, 2.1, 1.6, 1.25, 1, 0.82, 0.67] as const;
const FINAL = 3.7;
const MOTOR = 9.5;
/** Engine speed at idle in rpm. */
const IDLE_SPEED = 900;
/** Engine speed in rpm at which the gearbox shifts up. */
const SHIFT = 2_300;

/** Energy and heat of a plug-in hybrid: electric in town, engine above 45 km/h or at a low battery level. */
export class Drivetrain {
  charge: number;
  fuel: number;
  burnt: number;
  coolant: number;
  oil: number;
  engineRunning: boolean;
  /** Mechanical power at the wheels in W; negative while braking. */
  power = 0;
  /** Present fuel consumption in L/h. */
  flow = 0;
  #reserve = false;
  readonly #how: Charging;

  /** Reads `how` each time that it needs the charging request. */
  constructor(state: CarState, how: Charging) {
    this.#how = how;
    this.charge = Math.min(state.charge, USABLE);
    this.fuel = Math.min(state.fuel, TANK);
    this.burnt = state.burnt;
    this.coolant = state.coolant;
    this.oil = state.oil;
    this.engineRunning = state.engineRunning;
  }

  /** Advances by `seconds` under constant motion. */
  step(seconds: number, motion: Motion, scene: Scene, outside: number): void {
    const hours = seconds / 3600;
    const { speed, acceleration } = motion;
    const rolling = speed > 0 ? ROLLING * MASS * GRAVITY : 0;
    this.power = Math.max(-MOST_BRAKED, speed * (MASS * acceleration + DRAG * speed * speed + rolling));
    this.#decideEngine(speed, scene);
    const traction = Math.max(0, this.power);
    const recuperated = Math.min(0, this.power) * RECUPERATED;
    let drawn = scene.ignition === 'Start' ? CONSUMERS : 0;
    drawn += recuperated;
    this.flow = 0;
    if (this.engineRunning) {
      const load = traction + (this.#reserve ? RESERVE_POWER : 0);
      this.flow = IDLE + load / (ENGINE_EFFICIENCY * PETROL);
      if (this.#reserve) drawn -= RESERVE_POWER;
    } else {
      drawn += traction / ELECTRIC_EFFICIENCY;
    }
    drawn -= this.chargingPower(scene) * CHARGER_EFFICIENCY;
    this.charge = Math.min(USABLE, Math.max(0, this.charge - drawn * hours));
    const burnt = Math.min(this.fuel, this.flow * hours);
    this.fuel -= burnt;
    this.burnt += burnt;
    if (this.fuel < TANK * REFUEL_BELOW && scene.powertrain === 'NotRunning') this.fuel = TANK * REFUELLED;
    this.#warm(seconds, outside);
  }

  /** Returns the power in W from the plug. */
  chargingPower(scene: Scene): number {
    if (!scene.charging || scene.chargingFault !== 'None' || this.charge >= this.#goal) return 0;
    return Math.min(scene.quick ? CHARGER.quick : CHARGER.slow, LEVELS[this.#how.level] ?? 0);
  }

  /** Target charge of the battery in Wh. */
  get #goal(): number {
    return this.#how.partial ? PARTIAL * USABLE : USABLE;
  }

  chargingStatus(scene: Scene): 'Disconnected' | 'InProgress' | 'Failure' | 'Stopped' | 'Finished' {
    if (!scene.plugged || (scene.charging && scene.chargingFault === 'NoPower')) return 'Disconnected';
    if (scene.chargingFault === 'Failure') return 'Failure';
    if (this.charge >= this.#goal) return 'Finished';
    return scene.charging ? 'InProgress' : 'Stopped';
  }

  /** Returns the minutes until the battery of a charging car is full. */
  chargingTime(scene: Scene): number {
    return Math.ceil(((this.#goal - this.charge) / (this.chargingPower(scene) * CHARGER_EFFICIENCY)) * 60);
  }

  /** Returns the range in km/h that charging adds. */
  chargingRate(scene: Scene): number {
    return Math.round((this.chargingPower(scene) * CHARGER_EFFICIENCY) / PER_KILOMETRE);
  }

  /** Range on electricity in km. */
  get electricRange(): number {
    return Math.floor(this.charge / PER_KILOMETRE);
  }

  /** Range on fuel in km. */
  get fuelRange(): number {
    return Math.floor(this.fuel / LITRES_PER_KILOMETRE);
  }

  /** Returns the gear, 1 to 8. */
  gear(speed: number): number {
    const wheel = wheelSpeed(speed);
    const fitting = GEARS.findIndex((ratio) => wheel * ratio * FINAL < SHIFT);
    return fitting < 0 ? GEARS.length : fitting + 1;
  }

  /** Returns the speed of the engine in rpm. */
  engineSpeed(speed: number): number {
    if (!this.engineRunning) return 0;
    const ratio = GEARS[this.gear(speed) - 1] as number;
    return Math.max(IDLE_SPEED, wheelSpeed(speed) * ratio * FINAL);
  }

  /** Returns the speed of the electric motor in rpm. */
  motorSpeed(speed: number): number {
    return wheelSpeed(speed) * MOTOR;
  }

  #decideEngine(speed: number, scene: Scene): void {
    const level = this.charge / USABLE;
    this.#reserve = level < RESERVE_LOW || (this.#reserve && level < RESERVE_HIGH);
    if (scene.powertrain !== 'Running' || this.fuel <= 0) this.engineRunning = false;
    else if (this.#reserve || speed > ENGINE_ON) this.engineRunning = true;
    else if (speed < ENGINE_OFF) this.engineRunning = false;
  }

  /** Approaches the final temperature of the engine (first order). */
  #warm(seconds: number, outside: number): void {
    const toward = (now: number, goal: number, constant: number): number =>
      now + (goal - now) * Math.min(1, seconds / constant);
    this.coolant = this.engineRunning ? toward(this.coolant, 90, 90) : toward(this.coolant, outside, 900);
    this.oil = this.engineRunning ? toward(this.oil, 95, 160) : toward(this.oil, outside, 1200);
  }
}

function wheelSpeed(speed: number): number {
  return (speed / (2 * Math.PI * TYRE)) * 60;
}
