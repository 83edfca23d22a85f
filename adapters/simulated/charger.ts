import type { Scene } from './scenario.ts';

/** Delay in ms between a request and the charger's reaction. */
const REACTION = 400;
/** ChargeRequest of CHARGE_COMMAND: 1 start, 2 stop, 3 to 7 Level1 to Level5, 8 partial, 9 full. */
const [START, STOP, LEVEL1, LEVEL5, PARTIAL] = [1, 2, 3, 7, 8];

/** Charging request for the drivetrain. */
export interface Charging {
  /** Charging level, 1 to 5; 0: as strong as cable and station allow. */
  readonly level: number;
  /** True if charging stops at the level that is good for the battery. */
  readonly partial: boolean;
}

/** The on-board charger: obeys remote commands in addition to the actions of the people at the car. */
export class Charger implements Charging {
  level: number;
  partial: boolean;
  /** The latest remote command since the last action of a person at the car. */
  #requested: boolean | undefined;
  #request = 0;
  #rest = 0;

  constructor({ level, partial }: Charging) {
    this.level = level;
    this.partial = partial;
  }

  request(request: number, late: number): void {
    this.#request = request;
    this.#rest = REACTION + late;
  }

  /** Advances by `ms`. `before` and `after`: state of the script before and after this step. */
  step(ms: number, before: Scene, after: Scene): void {
    if (before.charging !== after.charging || before.plugged !== after.plugged) this.#requested = undefined;
    if (this.#request === 0) return;
    this.#rest -= ms;
    if (this.#rest > 0) return;
    const request = this.#request;
    this.#request = 0;
    if (request === START || request === STOP) this.#requested = request === START;
    else if (request >= LEVEL1 && request <= LEVEL5) this.level = request - LEVEL1 + 1;
    else this.partial = request === PARTIAL;
  }

  /** Returns true if the battery should be charged in this scene. */
  charging({ charging, plugged }: Scene): boolean {
    return plugged && (this.#requested ?? charging);
  }
}
