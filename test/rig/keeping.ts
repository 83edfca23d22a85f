/** Memory without a disk, for tests of the core alone. */
import type { Memory } from '../../agent/ports.ts';

/** Stored state that can be passed from one agent to the next. `commit` stores the states collected by `keep`. */
export class KeptMemory implements Memory {
  readonly kept = new Map<string, unknown>();
  #states: () => Iterable<readonly [string, unknown]> = () => [];

  recall(key: string): unknown {
    return this.kept.get(key);
  }

  keep(states: () => Iterable<readonly [string, unknown]>): void {
    this.#states = states;
  }

  commit(): void {
    for (const [key, value] of this.#states()) {
      if (value === undefined) this.kept.delete(key);
      else this.kept.set(key, structuredClone(value));
    }
  }
}
