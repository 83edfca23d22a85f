import type { Hello } from '../../protocol/schema/hello.ts';

/** Who watches over an agent. */
export interface Overseer {
  /** The agent looks around so often from now on, ms; called whenever it sets its alarm. */
  looksEvery(ms: number): void;
  /** The agent looked around and came to the end of it. */
  ticked(): void;
  /** Content of a hello in addition to the identity. */
  hello(): Partial<Hello>;
}
