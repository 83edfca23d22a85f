/**
 * Decides in which process the agent of a bench runs: in the bench's own process, to save the memory of a second one,
 * until the user wants to kill the agent on the page.
 */
import { VigieError } from '../protocol/errors.ts';
import type { BenchReportEvent } from '../protocol/interface/own/outbox.ts';
import type { MovedAgent, MoveOptions } from './bench-moved.ts';

export class AgentPlace {
  readonly #options: () => MoveOptions;
  /** Settles when the agent is running in its separate process, or could not be moved. */
  #move: Promise<MovedAgent> | undefined;
  #moved: MovedAgent | undefined;
  #fail: (error: Error) => void = () => undefined;
  /** Rejects if the agent could not be moved: the bench then has no agent. */
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
   * Starts the agent in a separate process, or kills it. The move continues after this has resolved, because it stops
   * the server that handles the request. Rejects with `input.malformed` if the agent is to be killed while it runs in
   * the bench itself.
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

  /** Returns true if the separate process will report on car and link; if false, ask the agent in the bench. */
  tells(): boolean {
    this.#moved?.ask();
    return this.#move !== undefined;
  }

  async stop(): Promise<void> {
    await (await this.#move)?.stop();
  }
}
