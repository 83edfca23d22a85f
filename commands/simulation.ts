import { DbcCodec } from '../adapters/can/dbc/index.ts';
import { SimulatedCar } from '../adapters/simulated/index.ts';
import type { Clock } from '../agent/ports.ts';
import type { Vehicle } from './vehicle.ts';

/** The simulated car, speaking the network description of its profile; `restore` is the state an earlier run left. */
export function benchCar(vehicle: Vehicle, clock: Clock, restore?: object): SimulatedCar {
  return new SimulatedCar({
    codec: new DbcCodec(vehicle.databases),
    clock,
    ...(restore === undefined ? {} : { restore }),
  });
}
