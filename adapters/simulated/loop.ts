import { Drive, type Motion } from './drive.ts';
import type { Route } from './route.ts';
import { parked, type Scenario, type Scene } from './scenario.ts';

/** Time in s after the start of the loop at which the car pulls out. */
const DEPARTURE = 14;
/** Distance of the errand in m: on the avenue de la Bourdonnais, after the light at the École Militaire. */
const ERRAND_AT = 1_400;
/** Duration in s of the errand, from stopping to pulling out. */
const ERRAND = 34;
/** Share of the distance at which the {@link LoopHabits.event} of a loop begins. */
const EVENT_AFTER = 0.55;
/** Time in s from stopping at the kerb to the end of the loop. */
const AFTERWARDS = 14;
/** Time in s that the driver spends in the car before it pulls out. */
const BOARDING = 8;

/** Distance in m before a bend at which the driver indicates. */
const INDICATED = 40;

const charging: Scene = { ...parked, plugged: true, charging: true, keyPresent: true };

/** One of the drives of the loop. */
interface Leg {
  /** Start of the drive in s after the start of the loop. */
  readonly departure: number;
  /** Start of the drive in m from the start of the route. */
  readonly from: number;
  readonly drive: Drive;
}

/** Habits of a driver on the loop; default: those of the driver of the bench car. */
export interface LoopHabits {
  /** Distance of the errand in m. */
  readonly errandAt?: number;
  /** Duration in s of the errand. */
  readonly errand?: number;
  /** Speed on straight roads in m/s. */
  readonly cruise?: number;
  /** Additional changes of the scene on the second half of the route. */
  readonly event?: Partial<Scene>;
}

/** A day of the car in a few minutes: charging at the kerb, around the route with an errand, and back. */
export class Loop implements Scenario {
  readonly period: number;
  readonly way: number;
  readonly passes: boolean;
  readonly #out: Leg;
  readonly #home: Leg;
  readonly #event: Partial<Scene> | undefined;

  /** @param passes if false, the car stays at the kerb and charges */
  constructor(route: Route, passes: boolean, habits: LoopHabits = {}) {
    const { errandAt = ERRAND_AT, errand = ERRAND, event, ...speed } = habits;
    const out = new Drive(route, { way: errandAt, ...speed });
    const home = new Drive(route, { from: errandAt, way: route.length - errandAt, ...speed });
    this.#out = { departure: DEPARTURE, from: 0, drive: out };
    this.#home = { departure: DEPARTURE + out.duration + errand, from: out.length, drive: home };
    this.#event = event;
    this.period = Math.ceil(this.#home.departure + home.duration + AFTERWARDS) * 1000;
    this.way = out.length + home.length;
    this.passes = passes;
  }

  motion(elapsed: number): Motion {
    const time = elapsed / 1000;
    const { departure, from, drive } = this.#legAt(time);
    const { distance, ...motion } = drive.at(time - departure);
    if (!this.passes) return { distance: from + distance, speed: 0, acceleration: 0 };
    return { distance: from + distance, ...motion };
  }

  scene(elapsed: number, motion: Motion, toBend: number): Scene {
    if (!this.passes) return charging;
    const time = elapsed / 1000;
    const leg = this.#legAt(time);
    /** Seconds since the car pulled out; negative before, longer than the drive afterwards. */
    const driving = time - leg.departure;
    /** Seconds since the car stopped. */
    const after = driving - leg.drive.duration;
    const away = leg === this.#out ? after >= 0 : driving < 0;
    const arrived = leg === this.#home && after >= 0;
    const share = motion.distance / this.way;
    const plugged = time < 7 || (arrived && after >= 9);
    const rain = share >= 0.6 && share < 0.7 ? 'Light' : share >= 0.7 && share < 0.75 ? 'Heavy' : 'None';
    const gettingIn = away ? driving >= -BOARDING && driving < -BOARDING + 2.5 : time >= 1.5 && time < 5;
    const gettingOut = away && after >= 4.5 && after < 8;
    return {
      ...charging,
      ignition: driving < -4 || after >= 2 ? 'Stop' : driving < -2.5 ? 'StartUp' : 'Start',
      powertrain: powertrain(driving, after),
      plugged,
      charging: plugged && (time < 6 || (arrived && after >= 10)),
      driverDoorOpen: gettingIn || gettingOut,
      passengerDoorOpen: arrived && after >= 5 && after < 8,
      belted: driving >= -5 && after < 3.5,
      parkingBrake: driving < -1 || after >= 1,
      indicator: indicator(driving, after, toBend),
      rain,
      night: share >= 0.8,
      washerLow: share >= 0.72,
      ...(share >= EVENT_AFTER ? this.#event : {}),
    };
  }

  asleep(): number {
    return 0;
  }

  /** Returns the current, next or last drive. */
  #legAt(time: number): Leg {
    return time < this.#home.departure - BOARDING ? this.#out : this.#home;
  }
}

function powertrain(driving: number, after: number): Scene['powertrain'] {
  if (driving < -2.5 || after >= 4) return 'NotRunning';
  if (driving < -1.5) return 'Starting';
  if (after < 2) return 'Running';
  return after < 3 ? 'Stopping' : 'Stopped';
}

function indicator(driving: number, after: number, toBend: number): Scene['indicator'] {
  if (driving >= -2 && driving < 3) return 'Left';
  if (after >= -6 && after < 1) return 'Right';
  return driving >= 3 && after < -6 && toBend <= INDICATED ? 'Left' : 'None';
}
