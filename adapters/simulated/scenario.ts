/** What the people around the car do at one moment. */
export interface Scene {
  readonly ignition: 'Stop' | 'StartUp' | 'Start';
  readonly powertrain: 'NotRunning' | 'Starting' | 'Running' | 'Stopping' | 'Stopped';
  readonly plugged: boolean;
  /** The charger is told to charge. */
  readonly charging: boolean;
  readonly driverDoorOpen: boolean;
  readonly passengerDoorOpen: boolean;
  readonly belted: boolean;
  readonly parkingBrake: boolean;
  /** Turn lamps flashing. */
  readonly indicator: 'None' | 'Left' | 'Right';
  readonly rain: 'None' | 'Light' | 'Heavy';
  readonly night: boolean;
  /** The washer bottle has run low. */
  readonly washerLow: boolean;
  /** Seconds since the car pulled out; negative before, more than the drive takes after. */
  readonly driving: number;
}

export type ScenarioName = 'loop' | 'parked';

/** When the car pulls out, s after the start of the loop. */
const DEPARTURE = 14;
/** From standing at the kerb to the end of the loop, s. */
const AFTERWARDS = 14;

/** Way before a bend on which the driver indicates, m. */
const INDICATED = 40;

/** A day of the car in a few minutes: from charging at the kerb once around the route to charging at the kerb. */
export class Scenario {
  /** Length of the loop, whole ms. */
  readonly period: number;
  readonly #name: ScenarioName;
  readonly #drive: number;

  /** `drive` is how long the car is under way, s. */
  constructor(name: ScenarioName, drive: number) {
    this.#name = name;
    this.#drive = drive;
    this.period = Math.ceil(DEPARTURE + drive + AFTERWARDS) * 1000;
  }

  /** Seconds that the car has been driving `elapsed` ms after the start of the loop. */
  driving(elapsed: number): number {
    return elapsed / 1000 - DEPARTURE;
  }

  /**
   * The scene `elapsed` ms after the start of the loop. `toBend` is the way to the next left turn, m (negative
   * within it, Infinity when none follows).
   */
  at(elapsed: number, toBend: number): Scene {
    if (this.#name === 'parked') return parked;
    const time = elapsed / 1000;
    const driving = this.driving(elapsed);
    /** Seconds since the car stood at the kerb again. */
    const after = driving - this.#drive;
    const share = driving / this.#drive;
    const plugged = time < 7 || after >= 9;
    const rain = share >= 0.6 && share < 0.7 ? 'Light' : share >= 0.7 && share < 0.75 ? 'Heavy' : 'None';
    return {
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
      driving,
    };
  }
}

const parked: Scene = {
  ignition: 'Stop',
  powertrain: 'NotRunning',
  plugged: true,
  charging: true,
  driverDoorOpen: false,
  passengerDoorOpen: false,
  belted: false,
  parkingBrake: true,
  indicator: 'None',
  rain: 'None',
  night: false,
  washerLow: false,
  driving: Number.NEGATIVE_INFINITY,
};

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
