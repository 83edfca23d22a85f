/** Collections by command. The collector is loaded for the first command, or if an earlier run left a collection. */

import type { FrameBatch, Memory } from '../agent/ports.ts';
import type { MakeRecorder, Recorder, RecorderParts } from '../agent/recorders/recorder.ts';
import type { AgentCommand } from '../agent/remotes/agent-command.ts';
import { defined } from '../protocol/defined.ts';
import type { Hello } from '../protocol/schema/hello.ts';
import type { CollectSurroundings, LoadedCollector } from './collector.ts';

/** Keys under which commands (agent/collect/collector.ts) and catalogs (agent/signals/numbers.ts) are stored. */
const COMMANDS = 'collections';
const NUMBERS = 'signals';

/** Collections of one agent. */
export class Collect implements Recorder {
  readonly name = 'collect';
  readonly watches = [];
  readonly #surroundings: CollectSurroundings;
  readonly #memory: Memory;
  #parts: RecorderParts | undefined;
  #loading: Promise<LoadedCollector> | undefined;
  #collector: LoadedCollector | undefined;

  constructor(surroundings: CollectSurroundings) {
    this.#surroundings = surroundings;
    this.#memory = surroundings.memory;
  }

  /** Makes this object one of the agent's recorders. */
  readonly recorder: MakeRecorder = (parts) => {
    this.#parts = parts;
    return this;
  };

  /** Restores the state of an earlier run. */
  async resume(): Promise<void> {
    if (this.#memory.recall(COMMANDS) !== undefined || this.#isBacklogNumbered()) await this.#load();
  }

  /** Returns true if unsent readings of an ended collection exist and nothing else announces their signal numbers. */
  #isBacklogNumbered(): boolean {
    const { numbers, waiting } = this.#surroundings;
    if (numbers() !== undefined || this.#memory.recall(NUMBERS) === undefined) return false;
    for (const { kind } of waiting.entries()) if (kind === 'telemetry') return true;
    return false;
  }

  /** Executes commands of kind `Collect`. */
  readonly order: AgentCommand = async (body, at) => (await this.#load()).order(body, at);

  /** Collects frames. Call after they have updated Status. The batch's `bus` is an index into `buses`. */
  take(batch: FrameBatch, buses: readonly string[]): void {
    this.#collector?.take(batch, buses);
  }

  /** Returns the running collections for a `hello`. */
  hello(): Partial<Hello> {
    const collect = this.#collector?.hello();
    return defined({ collect });
  }

  tick(now: number): void {
    this.#collector?.tick(now);
  }

  flush(): void {
    this.#collector?.flush();
  }

  correct(by: number, latest: number): void {
    this.#collector?.correct(by, latest);
  }

  async #load(): Promise<LoadedCollector> {
    const parts = this.#parts;
    if (parts === undefined) throw new Error('a command came before the agent was built');
    this.#loading ??= import('./collector.ts').then(({ loadCollector }) => {
      this.#collector = loadCollector(parts, this.#surroundings);
      return this.#collector;
    });
    return this.#loading;
  }
}
