import type { Hello } from '../../protocol/schema/hello.ts';

/** Supervises an agent. */
export interface Overseer {
  /** Sets the interval in ms of the agent's ticks from now on. Called whenever the agent sets its timer. */
  looksEvery(ms: number): void;
  /** Called after each tick of the agent. */
  ticked(): void;
  /** Returns the content of a hello in addition to the identity. */
  hello(): Partial<Hello>;
}
