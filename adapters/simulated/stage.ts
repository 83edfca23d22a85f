import { Drive, type Motion } from './drive.ts';
import type { Route } from './route.ts';
import { parked, type Scenario, type Scene } from './scenario.ts';

/** Scenes that a person can start at any time. */
export const sceneNames = [
  'drive',
  'park',
  'charge',
  'crash',
  'theft',
  'alarm',
  'low-battery',
  'door-open',
  'private',
  'tunnel',
] as const;
export type SceneName = (typeof sceneNames)[number];

/** Braking in m/s² before a scene that begins at rest. */
const BRAKE = 3;
/** Time in s from the start of a scene, or from standstill, to pulling out. */
const DEPARTURE = 4;
/** The same time in s for a thief, who needs longer. */
const THEFT = 12;
/** Distance in m of a drive until the car parks. */
const FAR = 50_000;
/** Distance in m until the collision. */
const NEAR = 120;
/** Duration in s of a tunnel. */
const TUNNEL = 45;
/** Duration in s of the siren. */
const SIREN = 20;
/** Distance in m before a bend at which the driver indicates. */
const INDICATED = 40;

const driving: Partial<Scene> = { ignition: 'Start', powertrain: 'Running', belted: true, parkingBrake: false };

/** Scenes in which the car drives. */
const moving: ReadonlySet<SceneName> = new Set(['drive', 'crash', 'theft', 'private', 'tunnel']);
/** Scenes that a driving car plays without stopping first. */
const onTheWay: ReadonlySet<SceneName> = new Set(['drive', 'private', 'tunnel']);

/** A movement that starts at the time `from` of the stage, in ms, and at the distance `before` in m. */
interface Leg {
  readonly from: number;
  readonly before: number;
  readonly drive: Drive;
}

/** State of the car when a scene begins: distance in m and speed in m/s. */
type Start = Pick<Motion, 'distance' | 'speed'>;

/** Plays one scene after the other on request. Time only advances; the car stays where the last scene left it. */
export class Stage implements Scenario {
  readonly period = Number.POSITIVE_INFINITY;
  readonly way = 0;
  readonly passes = true;
  readonly #route: Route;
  #name: SceneName;
  /** Start of the scene in ms of the stage. */
  #begin = 0;
  /** Time in ms of the stage at which the car has stopped, and the braking until then. */
  #rest = 0;
  #start: Start;
  #leg: Leg | undefined;

  constructor(route: Route, name: SceneName, start: Start) {
    this.#route = route;
    this.#name = name;
    this.#start = start;
    this.#play(name, 0, start);
  }

  get name(): SceneName {
    return this.#name;
  }

  /** Starts another scene at `elapsed` in ms of the stage. */
  play(name: SceneName, elapsed: number): void {
    const motion = this.motion(elapsed);
    if (onTheWay.has(name) && this.#leg !== undefined && motion.speed > 0 && this.#name !== 'crash') {
      this.#name = name;
      this.#begin = elapsed;
    } else this.#play(name, elapsed, motion);
  }

  motion(elapsed: number): Motion {
    if (elapsed < this.#rest) return this.#braking(elapsed);
    const leg = this.#leg;
    const { distance } = this.#braking(this.#rest);
    if (leg === undefined) return { distance, speed: 0, acceleration: 0 };
    const motion = leg.drive.at((elapsed - leg.from) / 1000);
    return { ...motion, distance: leg.before + motion.distance };
  }

  scene(elapsed: number, motion: Motion, toBend: number): Scene {
    const base: Scene = { ...parked, keyPresent: true };
    if (elapsed < this.#rest) return { ...base, ...driving };
    const leg = this.#leg;
    /** Seconds since the car stopped. */
    const rested = (elapsed - Math.max(this.#rest, this.#begin)) / 1000;
    if (leg === undefined) return { ...base, ...this.#atRest(rested) };
    const name = this.#name;
    const stolen = name === 'theft' ? theft(elapsed >= leg.from, rested) : {};
    const until = (leg.from - elapsed) / 1000;
    if (until > 0) return { ...base, ...starting(until), ...stolen };
    if (elapsed >= leg.from + leg.drive.duration * 1000 && name !== 'crash') return { ...base, ...stolen };
    const crashed =
      name === 'crash' && leg.drive.impact !== undefined && elapsed >= leg.from + leg.drive.impact.at * 1000;
    return {
      ...base,
      ...driving,
      // At a red light the engine is stopped while the ignition stays on.
      powertrain: motion.speed === 0 && elapsed > leg.from ? 'Stopped' : 'Running',
      indicator: toBend <= INDICATED ? 'Left' : 'None',
      privacy: name === 'private' ? 'Geolocation' : 'None',
      sky: name !== 'tunnel' || elapsed - this.#begin > (TUNNEL + DEPARTURE) * 1000,
      crash: crashed ? { side: 'Front', severity: 'Minor' } : undefined,
      ...stolen,
    };
  }

  asleep(): number {
    return 0;
  }

  #play(name: SceneName, elapsed: number, start: Start): void {
    this.#name = name;
    this.#begin = elapsed;
    this.#start = start;
    this.#rest = elapsed + (start.speed / BRAKE) * 1000;
    this.#leg = undefined;
    if (!moving.has(name)) return;
    const before = this.#braking(this.#rest).distance;
    const from = this.#route.along(before);
    const departure = name === 'theft' ? THEFT : DEPARTURE;
    const drive = new Drive(this.#route, { from, way: name === 'crash' ? NEAR : FAR, crash: name === 'crash' });
    this.#leg = { from: this.#rest + departure * 1000, before, drive };
  }

  /** Returns the motion between the start of the scene and {@link #rest}. */
  #braking(elapsed: number): Motion {
    const { distance, speed } = this.#start;
    const duration = speed / BRAKE;
    const time = duration - (this.#rest - elapsed) / 1000;
    return {
      distance: distance + speed * time - (BRAKE * time * time) / 2,
      speed: speed - BRAKE * time,
      acceleration: speed > 0 ? -BRAKE : 0,
    };
  }

  /** Returns the changes of scenes at rest, `seconds` after the car has stopped. */
  #atRest(seconds: number): Partial<Scene> {
    const locked = seconds >= 2;
    switch (this.#name) {
      case 'park':
        return {
          driverDoorOpen: seconds >= 1 && seconds < 3,
          ...(seconds < 4 ? {} : { locked: true, keyPresent: false }),
        };
      case 'charge':
        return { plugged: seconds >= 1, charging: seconds >= 2 };
      case 'alarm':
        return {
          ...(locked ? { locked: true, armed: true, keyPresent: false } : {}),
          trigger: seconds >= 5 && seconds < 5 + SIREN ? 'VolumetricBreakIn' : 'NoBreakIn',
        };
      case 'low-battery':
        return { battery12V: 12, lamps: ['Battery12V'] };
      case 'door-open':
        return { driverDoorOpen: true };
      default:
        return {};
    }
  }
}

/** Returns the changes `until` seconds before the car pulls out. */
function starting(until: number): Partial<Scene> {
  if (until > 3) return {};
  if (until > 2) return { ignition: 'StartUp', belted: true };
  return { ignition: 'Start', powertrain: until > 1 ? 'Starting' : 'Running', belted: true };
}

/** Returns the changes of a theft: broken into, started without a key, driven away; `seconds` since the car stopped. */
function theft(away: boolean, seconds: number): Partial<Scene> {
  if (seconds < 2) return {};
  const taken = { locked: true, armed: true, keyPresent: false };
  if (seconds < 5) return taken;
  if (seconds < 8) return { ...taken, driverDoorOpen: true, trigger: 'FrontLeftDoorBreakIn' };
  if (!away) return { ...taken, trigger: seconds < THEFT - 3 ? 'FrontLeftDoorBreakIn' : 'UnauthenticatedStartup' };
  return { ...taken, trigger: seconds < THEFT + SIREN ? 'UnauthenticatedStartup' : 'NoBreakIn' };
}
