/** Value of a command line option. */
type Value = number | string;

/** A scenario of minutes or hours for one agent or many; `scripts/scenarios/index.ts` runs it. */
export interface RunnableScenario<Options extends Readonly<Record<string, Value>>> {
  /** Options with their defaults. A number must be above 0. */
  readonly options: Options;
  /** Name of the option that may be given as a bare argument. */
  readonly argument?: keyof Options & string;
  /** Runs the scenario and prints events. Resolves to the problems found, one line each. */
  run(options: Options): Promise<readonly string[]>;
}
