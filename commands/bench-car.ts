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

/** How often the simulated car is written down, ms: a real one does not forget its odometer when the agent is killed. */
const REMEMBER_EVERY = 5_000;

interface BenchAgentOptions
  extends Pick<CarOptions, 'vin' | 'vehicle' | 'mqtt' | 'http' | 'notificationChannels' | 'published'> {
  /** Directory of records, state and the simulated car. */
  readonly data: string;
  /** File of the keys that may command it. */
  readonly trust: string;
  readonly clock: SystemClock;
  readonly log: Log;
}

export interface BenchCarOptions extends BenchAgentOptions, Pick<SimulatedCarOptions, 'begin' | 'driving'> {
  readonly scenario: ScenarioName;
  /** Scene to play at once, in place of the scenario. */
  readonly scene?: SceneName;
  /** Controls of the bench for a person at its page. If omitted, none. */
  readonly controls?: (car: SimulatedCar, cable: BenchCable) => BenchControls;
}

export interface BenchCar extends Car {
  readonly cable: BenchCable;
  /** Ends the agent alone; the simulated car stands still until its cable is started again. */
  stopAgent(): Promise<void>;
}

/** Starts the car where an earlier run left it; rejects as {@link startCar} does. */
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

/** The agent of a bench car; rejects as {@link startCar} does. */
export function startBenchAgent(options: BenchAgentOptions, cable: FrameSource & FrameSender): Promise<Car> {
  return startCar({
    ...options,
    sources: [cable],
    sender: cable,
    // Cars on one machine: somebody is watching, and the broker is not short of breath.
    backoff: { first: 500, longest: 4_000 },
    // On a bench somebody watches.
    settings: watchedSettings,
  });
}
