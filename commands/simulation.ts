import { DbcCodec } from '../adapters/can/dbc/index.ts';
import { type ScenarioName, SimulatedCar } from '../adapters/simulated/index.ts';
import type { Clock } from '../agent/ports.ts';
import type { Vehicle } from './vehicle.ts';

/** The simulated car, speaking the network description of its profile; `restore` is the state an earlier run left, `parked` a car that stays where it is. */
export function benchCar(
  vehicle: Vehicle,
  clock: Clock,
  options: { restore?: object | undefined; scenario?: ScenarioName } = {},
): SimulatedCar {
  const { restore, scenario = 'loop' } = options;
  return new SimulatedCar({
    codec: new DbcCodec(vehicle.databases),
    clock,
    scenario,
    ...(restore === undefined ? {} : { restore }),
  });
}
