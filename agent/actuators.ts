import { VigieError } from '../protocol/errors.ts';
import type { ActionParameters, Actuator } from './ports.ts';

/** An action started but did not finish: the car may have obeyed already. Has the reason's code and message. */
export class BrokenOff extends VigieError {
  constructor(reason: VigieError) {
    super(reason.code, reason.message, { cause: reason });
    this.name = 'BrokenOff';
  }
}

/** Combines several actuators. The first one that offers an action carries it out. */
export class Actuators implements Actuator {
  readonly actions: ReadonlySet<string>;
  readonly #actuators: readonly Actuator[];

  constructor(actuators: readonly Actuator[]) {
    this.#actuators = actuators;
    this.actions = new Set(actuators.flatMap(({ actions }) => [...actions]));
  }

  /** @throws VigieError `command.unsupported` if no actuator offers the action, or the error of the one that does */
  async actuate(action: string, parameters?: ActionParameters, allowed?: () => void): Promise<void> {
    const actuator = this.#of(action);
    if (actuator === undefined)
      throw new VigieError('command.unsupported', `the vehicle profile has no ${action}, or no bus to send it on`);
    await actuator.actuate(action, parameters, allowed);
  }

  asleep(action: string): boolean {
    return this.#of(action)?.asleep?.(action) === true;
  }

  #of(action: string): Actuator | undefined {
    return this.#actuators.find(({ actions }) => actions.has(action));
  }
}
