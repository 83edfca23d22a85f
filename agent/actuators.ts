import { VigieError } from '../protocol/errors.ts';
import type { ActionParameters, Actuator } from './ports.ts';

/** An action was begun and not brought to its end: the car may have obeyed already. Code and message are the reason's. */
export class BrokenOff extends VigieError {
  constructor(reason: VigieError) {
    super(reason.code, reason.message, { cause: reason });
    this.name = 'BrokenOff';
  }
}

/** Several ways to make the car do something as one: each action goes to the first that offers it. */
export class Actuators implements Actuator {
  readonly actions: ReadonlySet<string>;
  readonly #actuators: readonly Actuator[];

  constructor(actuators: readonly Actuator[]) {
    this.#actuators = actuators;
    this.actions = new Set(actuators.flatMap(({ actions }) => [...actions]));
  }

  /** @throws VigieError `command.unsupported` when none offers it, or what the one that does rejects with */
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
