/** A car, a time and a broker for tests of programs that build on Vigie: `vigie/testing`. */
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
  /** The clock of the agent; default: that of the machine. */
  readonly clock?: Clock;
  /** Default `loop`: a day in a few minutes, again and again. */
  readonly scenario?: ScenarioName;
}

/** The compiler keeps it complete. */
const scenarios = { loop: 0, parked: 0, day: 0 } satisfies { readonly [S in ScenarioName]: 0 };

const rules: { readonly [O in keyof Required<TestCarOptions>]: OptionRule } = {
  clock: [(value) => hasFunctions(value, 'now', 'monotonic', 'after'), 'a clock with now, monotonic and after'],
  scenario: [
    (value) => typeof value === 'string' && Object.hasOwn(scenarios, value),
    `one of ${Object.keys(scenarios).join(', ')}`,
  ],
};

/** The car of the profile `bench`, as frames on its bus; it obeys commands. A source for an agent. */
export function simulatedCar(options: TestCarOptions = {}): SimulatedCar {
  checkFields(options, rules, 'simulatedCar');
  const { clock = new SystemClock(), scenario = 'loop' } = options;
  return benchCar(benchVehicle(scenario), clock, { scenario });
}
