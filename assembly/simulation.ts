import { DbcCodec } from '../adapters/can/dbc/index.ts';
import { type ScenarioName, SimulatedCar, type SimulatedCarOptions } from '../adapters/simulated/index.ts';
import type { Clock } from '../agent/ports.ts';
import { defined } from '../protocol/defined.ts';
import { recordingDefaults } from '../protocol/recording.ts';
import { loadVehicle, type Vehicle } from './vehicle.ts';

/** On the loop the car stands for half a minute between its trips, ms. */
const LOOP_GRACE = 15_000;

/** The vehicle of the bench. On the loop its trips end after a short stop, so that people who watch see them end. */
export function benchVehicle(scenario: ScenarioName): Vehicle {
  const vehicle = loadVehicle('bench');
  if (scenario !== 'loop') return vehicle;
  const { trips = recordingDefaults.trip } = vehicle.profile;
  return { ...vehicle, profile: { ...vehicle.profile, trips: { ...trips, grace: LOOP_GRACE } } };
}

/** The simulated car, speaking the network description of its profile; `restore` is the state an earlier run left, `parked` a car that stays where it is. */
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
