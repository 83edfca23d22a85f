/**
 * Where the agent of a bench runs: in the process of the bench, so that a bench takes the memory of one process, until a
 * person at the page wants to kill it.
 */
import { VigieError } from '../protocol/errors.ts';
import type { BenchReportEvent } from '../protocol/interface/own/outbox.ts';
import type { MovedAgent, MoveOptions } from './bench-moved.ts';

export class AgentPlace {
  readonly #options: () => MoveOptions;
  /** Settles when the agent has a process of its own. */
  #move: Promise<MovedAgent> | undefined;
  #moved: MovedAgent | undefined;
  #fail: (error: Error) => void = () => undefined;
  /** Rejects when the agent could not be moved: the bench has none then. */
  readonly failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  constructor(options: () => MoveOptions) {
    this.#options = options;
  }

  report(): Pick<BenchReportEvent, 'process' | 'pid' | 'received'> {
    return this.#moved?.report() ?? { process: this.#move === undefined ? 'within' : 'starts' };
  }

  /**
   * Starts the agent in a process of its own, or kills that. Moving it there goes on when this has resolved: the server
   * that the request came to ends meanwhile. Rejects with `input.malformed` while the agent runs in the bench itself.
   */
  async turn(wanted: boolean): Promise<void> {
    if (this.#moved !== undefined) return this.#moved.turn(wanted);
    if (!wanted) {
      throw new VigieError(
        'input.malformed',
        'process: the agent has none of its own that could be killed; first say true',
      );
    }
    if (this.#move !== undefined) return;
    this.#move = import('./bench-moved.ts').then(({ moveAgent }) => moveAgent(this.#options()));
    this.#move.then((moved) => {
      this.#moved = moved;
    }, this.#fail);
  }

  /** True: the process will report on car and link. False: ask the agent of the bench. */
  tells(): boolean {
    this.#moved?.ask();
    return this.#move !== undefined;
  }

  async stop(): Promise<void> {
    await (await this.#move)?.stop();
  }
}
