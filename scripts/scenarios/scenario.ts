/** Value of an option on the command line. */
type Value = number | string;

/** A scenario that takes one or many agents minutes or hours. `scripts/scenarios/index.ts` runs it. */
export interface RunnableScenario<Options extends Readonly<Record<string, Value>>> {
  /** Options with their defaults. A number must be above 0. */
  readonly options: Options;
  /** Name of the option that may be given as an argument without its name. */
  readonly argument?: keyof Options & string;
  /** Runs the scenario and prints events. Resolves with the problems that were found, one line each. */
  run(options: Options): Promise<readonly string[]>;
}
