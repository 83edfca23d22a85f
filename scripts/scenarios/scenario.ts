/** Value of an option on the command line. */
type Value = number | string;

/** Something that happens to an agent, or to many, for minutes or hours; `scripts/scenarios/index.ts` runs it. */
export interface RunnableScenario<Options extends Readonly<Record<string, Value>>> {
  /** With their defaults. A number must be above 0. */
  readonly options: Options;
  /** The option that may stand alone, without its name. */
  readonly argument?: keyof Options & string;
  /** Resolves with what went wrong, a line for each; prints what happens. */
  run(options: Options): Promise<readonly string[]>;
}
