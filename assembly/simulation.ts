import { DbcCodec } from '../adapters/can/dbc/index.ts';
import { type ScenarioName, SimulatedCar, type SimulatedCarOptions } from '../adapters/simulated/index.ts';
import type { Clock } from '../agent/ports.ts';
import { defined } from '../protocol/defined.ts';
import { recordingDefaults } from '../protocol/recording.ts';
import { loadVehicle, type Vehicle } from './vehicle.ts';

/** Delay in ms before a trip ends in scenario `loop`, in which the car stops for 30 s between trips. */
const LOOP_GRACE = 15_000;

/** Returns the bench vehicle. In scenario `loop` trips end after a short stop, so that viewers see them end. */
export function benchVehicle(scenario: ScenarioName): Vehicle {
  const vehicle = loadVehicle('bench');
  if (scenario !== 'loop') return vehicle;
  const { trips = recordingDefaults.trip } = vehicle.profile;
  return { ...vehicle, profile: { ...vehicle.profile, trips: { ...trips, grace: LOOP_GRACE } } };
}

/**
 * Returns the simulated car, which sends the frames in its profile's DBC. `restore`: state of an earlier run. Scenario
 * `parked`: the car never moves.
 */
export function benchCar(
  vehicle: Vehicle,
  clock: Clock,
  options: Pick<SimulatedCarOptions, 'begin' | 'driving'> & {
    restore?: object | undefined;
    scenario?: ScenarioName;
  } = {},
): SimulatedCar {
  const { restore, scenario = 'loop', ...others } = options;
  return new SimulatedCar({
    codec: new DbcCodec(vehicle.databases),
    clock,
    scenario,
    ...others,
    ...defined({ restore }),
  });
}
