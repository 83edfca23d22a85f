/** Sends commands to the car as frames or as diagnostic requests, as the profile specifies for each command. */
import { FrameActuator } from '../adapters/can/actuator.ts';
import { UdsActuator, type UdsRequester } from '../adapters/obd/uds/index.ts';
import { Actuators } from '../agent/actuators.ts';
import type { Actuator, Clock, FrameSender, Log } from '../agent/ports.ts';
import { seedKeys } from './seed-keys.ts';
import type { Vehicle } from './vehicle.ts';

/** Access to the buses of a car. Commands cannot use what is omitted. */
export interface Ways {
  readonly sender?: FrameSender;
  /** Requesters for control units, by the name of their bus in the profile. */
  readonly requesters?: ReadonlyMap<string, UdsRequester>;
  /** Returns true if a bus that carries frames sleeps; default: none sleeps. */
  readonly sleeps?: (bus: string) => boolean;
}

interface Actuation {
  readonly actuator: Actuator;
  /** Releases held controls. Resolves when they are released, or when they cannot be released in time. */
  stop(): Promise<void>;
}

/** Returns the actuators for the commands of a profile, preceded by those in `first`. */
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
