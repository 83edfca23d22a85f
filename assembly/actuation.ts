/** Way of commands to the car: by frames or by diagnostics, by the profile's choice for each. */
import { FrameActuator } from '../adapters/can/actuator.ts';
import { UdsActuator, type UdsRequester } from '../adapters/obd/uds/index.ts';
import { Actuators } from '../agent/actuators.ts';
import type { Actuator, Clock, FrameSender, Log } from '../agent/ports.ts';
import { seedKeys } from './seed-keys.ts';
import type { Vehicle } from './vehicle.ts';

/** The ways to the buses of a car; what is absent cannot be commanded in that way. */
export interface Ways {
  readonly sender?: FrameSender;
  /** Who asks the control units of a bus, by its name in the profile. */
  readonly requesters?: ReadonlyMap<string, UdsRequester>;
  /** Whether a bus of frames sleeps; default: no bus ever does. */
  readonly sleeps?: (bus: string) => boolean;
}

interface Actuation {
  readonly actuator: Actuator;
  /** Returns held controls. Resolves when that is done, or cannot be done in time. */
  stop(): Promise<void>;
}

/** Every way in which the commands of a profile are carried out; those of `first` go before the profile's. */
export function actuationOf(
  vehicle: Vehicle,
  ways: Ways,
  clock: Clock,
  log: Log,
  first: readonly Actuator[] = [],
): Actuation {
  const { sender, requesters = new Map<string, UdsRequester>(), sleeps } = ways;
  const { commands } = vehicle.profile;
  const frames = new FrameActuator(commands, vehicle.databases, sender, clock, sleeps);
  const { hooks, problems } = seedKeys(process.env);
  for (const { message } of problems) log.warn('seedKey.unusable', { error: message });
  const uds = new UdsActuator({ commands, requesters, clock, log, hooks });
  return {
    actuator: new Actuators([...first, frames, uds]),
    stop: () => uds.stop(),
  };
}
