/** A simulated car and a clock, for tests of programs that build on Vigie: `vigie/testing`. */
import { SystemClock } from '../../adapters/clock/system.ts';
import type { ScenarioName, SimulatedCar } from '../../adapters/simulated/index.ts';
import type { Clock } from '../../agent/ports.ts';
import { benchCar, benchVehicle } from '../simulation.ts';
import { checkFields, hasFunctions, type OptionRule } from './checks.ts';

export { VirtualClock } from '../../adapters/clock/virtual.ts';
export { EmbeddedBroker, type EmbeddedBrokerOptions } from '../../adapters/mqtt/embedded-broker.ts';
export { CloudClient } from '../../adapters/mqtt/index.ts';
export type { ScenarioName, SimulatedCar };

export interface TestCarOptions {
  /** Clock of the agent; default: the machine's. */
  readonly clock?: Clock;
  /** Scenario of the simulation; default `loop`: a day within a few minutes, repeatedly. */
  readonly scenario?: ScenarioName;
}

/** All scenario names; the compiler checks that the list is complete. */
const scenarios = { loop: 0, parked: 0, day: 0 } satisfies { readonly [S in ScenarioName]: 0 };

const rules: { readonly [O in keyof Required<TestCarOptions>]: OptionRule } = {
  clock: [(value) => hasFunctions(value, 'now', 'monotonic', 'after'), 'a clock with now, monotonic and after'],
  scenario: [
    (value) => typeof value === 'string' && Object.hasOwn(scenarios, value),
    `one of ${Object.keys(scenarios).join(', ')}`,
  ],
};

/** The simulated car of profile `bench`, as frames on its bus. Executes commands. Use it as a source of an agent. */
export function simulatedCar(options: TestCarOptions = {}): SimulatedCar {
  checkFields(options, rules, 'simulatedCar');
  const { clock = new SystemClock(), scenario = 'loop' } = options;
  return benchCar(benchVehicle(scenario), clock, { scenario });
}
