import { Drive, type Motion } from './drive.ts';
import type { Route } from './route.ts';
import { parked, type Scenario, type Scene } from './scenario.ts';

/** When the car pulls out, s after the start of the loop. */
const DEPARTURE = 14;
/** From standing at the kerb to the end of the loop, s. */
const AFTERWARDS = 14;

/** Way before a bend on which the driver indicates, m. */
const INDICATED = 40;

const charging: Scene = { ...parked, plugged: true, charging: true, keyPresent: true };

/** A day of the car in a few minutes: from charging at the kerb once around the route to charging at the kerb. */
export class Loop implements Scenario {
  readonly period: number;
  readonly way: number;
  readonly passes: boolean;
  readonly #drive: Drive;

  /** `passes` false: the car stays where it is and charges. */
  constructor(route: Route, passes: boolean) {
    this.#drive = new Drive(route);
    this.period = Math.ceil(DEPARTURE + this.#drive.duration + AFTERWARDS) * 1000;
    this.way = this.#drive.length;
    this.passes = passes;
  }

  motion(elapsed: number): Motion {
    const motion = this.#drive.at(elapsed / 1000 - DEPARTURE);
    return this.passes ? motion : { distance: motion.distance, speed: 0, acceleration: 0 };
  }

  scene(elapsed: number, _motion: Motion, toBend: number): Scene {
    if (!this.passes) return charging;
    const time = elapsed / 1000;
    /** Seconds since the car pulled out; negative before, more than the drive takes after. */
    const driving = time - DEPARTURE;
    /** Seconds since the car stood at the kerb again. */
    const after = driving - this.#drive.duration;
    const share = driving / this.#drive.duration;
    const plugged = time < 7 || after >= 9;
    const rain = share >= 0.6 && share < 0.7 ? 'Light' : share >= 0.7 && share < 0.75 ? 'Heavy' : 'None';
    return {
      ...charging,
      ignition: time < 10 || after >= 2 ? 'Stop' : time < 11.5 ? 'StartUp' : 'Start',
      powertrain: powertrain(time, after),
      plugged,
      charging: plugged && (time < 6 || after >= 10),
      driverDoorOpen: time >= 1.5 && time < 5,
      passengerDoorOpen: after >= 5 && after < 8,
      belted: time >= 9 && after < 3.5,
      parkingBrake: time < 13 || after >= 1,
      indicator: indicator(time, driving, after, toBend),
      rain,
      night: share >= 0.8,
      washerLow: share >= 0.72,
    };
  }

  asleep(): number {
    return 0;
  }
}

function powertrain(time: number, after: number): Scene['powertrain'] {
  if (time < 11.5 || after >= 4) return 'NotRunning';
  if (time < 12.5) return 'Starting';
  if (after < 2) return 'Running';
  return after < 3 ? 'Stopping' : 'Stopped';
}

function indicator(time: number, driving: number, after: number, toBend: number): Scene['indicator'] {
  if (time >= 12 && driving < 3) return 'Left';
  if (after >= -6 && after < 1) return 'Right';
  return driving >= 3 && after < -6 && toBend <= INDICATED ? 'Left' : 'None';
}
