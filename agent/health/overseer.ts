import type { Hello } from '../../protocol/schema/hello.ts';

/** Supervises an agent. */
export interface Overseer {
  /** Sets the interval of the agent's ticks from now on, ms. Called whenever the agent sets its timer. */
  looksEvery(ms: number): void;
  /** The agent completed a tick. */
  ticked(): void;
  /** Returns the content of a hello in addition to the identity. */
  hello(): Partial<Hello>;
}
