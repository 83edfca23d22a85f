/** Runs a check repeatedly, one at a time. */
import type { Timer } from './ports.ts';

interface LooksParts {
  readonly after: Timer;
  /** Time in ms from the end of a check to the next. */
  readonly every: number;
  /** Runs one check. Never rejects. */
  readonly look: () => Promise<void>;
}

export class Looks {
  readonly #parts: LooksParts;
  #cancel: () => void = () => undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;
  /** True if work may be due before the next regular check. */
  #again = false;
  #busy = false;

  constructor(parts: LooksParts) {
    this.#parts = parts;
  }

  /** True after {@link stop}. A running check should end early. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Starts the regular checks. */
  begin(): void {
    this.#cancel = this.#parts.after(this.#parts.every, () => this.wake());
  }

  /** Stops the checks. Resolves when no check is running any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  /** Checks now. Call after a change. */
  wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    if (this.#busy) return;
    this.#busy = true;
    this.#cancel();
    this.#looking = this.#lookWhileNeeded().finally(() => {
      this.#busy = false;
      if (!this.#stopped) this.begin();
    });
  }

  async #lookWhileNeeded(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      await this.#parts.look();
    }
  }
}
