import type { Scene } from './scenario.ts';

/** Delay in ms between a request and the start of the blower. */
const REACTION = 600;
/** Duration in ms of a run. */
const RUN = 600_000;
/** Charge in % below which the traction battery is reserved for driving. */
const RESERVE = 20;
/** Target and resting temperature of the cabin in degC, and half-life of a temperature difference in ms. */
const COMFORT = 22;
const REST = 20.5;
const HALF = 180_000;
/** Value of PreconditioningRequest of CLIMATE_COMMAND. */
const START = 1;

export interface ClimateSurroundings {
  readonly scene: Scene;
  /** Charge of the traction battery in %. */
  readonly level: number;
  /** Speed in km/h. */
  readonly speed: number;
}

/** Preconditioning of the cabin, and the reason if it is not possible. */
export class Climate {
  state: 'Disabled' | 'Enabled' | 'Finished' | 'Failure' = 'Disabled';
  /** Reason of the failure, a name of CLIMATE.FailureCause. */
  failure = 'None';
  /** Temperature of the cabin in degC. */
  cabin = REST;
  #request = 0;
  #rest = 0;
  #ran = 0;

  request(request: number, late: number): void {
    this.#request = request;
    this.#rest = REACTION + late;
  }

  step(ms: number, surroundings: ClimateSurroundings): void {
    const goal = this.state === 'Enabled' ? COMFORT : REST;
    if (this.cabin !== goal) this.cabin += (goal - this.cabin) * (1 - 0.5 ** (ms / HALF));
    if (this.state === 'Enabled') this.#run(ms, surroundings);
    if (this.#request === 0) return;
    this.#rest -= ms;
    if (this.#rest > 0) return;
    const starts = this.#request === START;
    this.#request = 0;
    if (starts) this.#start(surroundings);
    else this.#end('Disabled');
  }

  #start(surroundings: ClimateSurroundings): void {
    // With the engine started, the driver controls the air conditioning.
    if (surroundings.scene.ignition === 'Start') return;
    const failure = obstacle(surroundings);
    this.#end(failure === 'None' ? 'Enabled' : 'Failure');
    this.failure = failure;
  }

  #run(ms: number, { scene }: ClimateSurroundings): void {
    this.#ran += ms;
    if (scene.ignition === 'Start') this.#end('Disabled');
    else if (this.#ran >= RUN) this.#end('Finished');
  }

  #end(state: Climate['state']): void {
    this.state = state;
    this.failure = 'None';
    this.#ran = 0;
  }
}

/** Returns the obstacle to preconditioning, a name of CLIMATE.FailureCause. */
function obstacle({ scene, level, speed }: ClimateSurroundings): string {
  if (scene.climateFault !== 'None') return scene.climateFault;
  if (speed > 0) return 'NotParked';
  if (scene.driverDoorOpen || scene.passengerDoorOpen) return 'DoorOpened';
  return level < RESERVE && !scene.plugged ? 'LowBattery' : 'None';
}
