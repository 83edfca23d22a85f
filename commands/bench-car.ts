/** One simulated car with its agent, as `vigie bench` runs it. */

import { join } from 'node:path';
import type { SystemClock } from '../adapters/clock/system.ts';
import type { BenchControls } from '../adapters/http/own-routes.ts';
import type { ScenarioName, SceneName, SimulatedCar, SimulatedCarOptions } from '../adapters/simulated/index.ts';
import { openDocument } from '../adapters/store/index.ts';
import type { FrameSender, FrameSource, Log } from '../agent/ports.ts';
import { type Car, startCar } from '../assembly/car.ts';
import type { CarOptions } from '../assembly/car-options.ts';
import { makeDirectory } from '../assembly/directory.ts';
import { benchCar } from '../assembly/simulation.ts';
import { defined } from '../protocol/defined.ts';
import { watchedSettings } from '../protocol/settings.ts';
import { BenchCable } from './bench-cable.ts';

/** Time in ms between two saves of the simulated car, which must keep its odometer when the agent is killed. */
const REMEMBER_EVERY = 5_000;

interface BenchAgentOptions
  extends Pick<CarOptions, 'vin' | 'vehicle' | 'mqtt' | 'http' | 'notificationChannels' | 'exits' | 'published'> {
  /** Directory of records, state and the simulated car. */
  readonly data: string;
  /** File of the keys that may sign commands. */
  readonly trust: string;
  readonly clock: SystemClock;
  readonly log: Log;
}

export interface BenchCarOptions extends BenchAgentOptions, Pick<SimulatedCarOptions, 'begin' | 'driving'> {
  readonly scenario: ScenarioName;
  /** Scene to play at the start instead of the scenario. */
  readonly scene?: SceneName;
  /** Controls of the bench for the user of its page. If omitted, there are none. */
  readonly controls?: (car: SimulatedCar, cable: BenchCable) => BenchControls;
}

export interface BenchCar extends Car {
  readonly cable: BenchCable;
  /** Stops only the agent. The simulated car stays parked until its cable is started again. */
  stopAgent(): Promise<void>;
}

/** Starts the car in the state of an earlier run. Rejects as {@link startCar} does. */
export async function startBenchCar(options: BenchCarOptions): Promise<BenchCar> {
  const { scenario, scene, controls, http, begin, driving, ...rest } = options;
  const { vehicle, data, clock, log } = rest;
  makeDirectory(data);
  const memory = await openDocument<{ car?: object }>(join(data, 'car.json'), {}, { log });
  const simulation = benchCar(vehicle, clock, {
    restore: memory.data.car,
    scenario,
    ...defined({ begin, driving }),
  });
  if (scene !== undefined) simulation.play(scene);
  const cable = new BenchCable(simulation);
  const bench = controls?.(simulation, cable);
  const car = await startBenchAgent(
    {
      ...rest,
      ...(http === undefined ? {} : { http: 'local' in http && bench !== undefined ? { ...http, bench } : http }),
    },
    cable,
  );
  const remember = (): void => {
    memory
      .write({ car: simulation.state() })
      .catch((error: Error) => log.warn('bench.unsaved', { error: error.message }));
  };
  const remembering = setInterval(remember, REMEMBER_EVERY);
  let stopped: Promise<void> | undefined;
  const stopAgent = (): Promise<void> => {
    stopped ??= car.stop();
    return stopped;
  };
  return {
    ...car,
    cable,
    stopAgent,
    stop: async () => {
      clearInterval(remembering);
      await stopAgent();
      await simulation.stop();
      await memory.write({ car: simulation.state() });
    },
  };
}

/** Starts the agent of a bench car. Rejects as {@link startCar} does. */
export function startBenchAgent(options: BenchAgentOptions, cable: FrameSource & FrameSender): Promise<Car> {
  return startCar({
    ...options,
    sources: [cable],
    sender: cable,
    // All cars are on one machine and somebody watches them, and the broker has enough capacity.
    backoff: { first: 500, longest: 4_000 },
    // A bench always has a viewer.
    settings: watchedSettings,
  });
}
