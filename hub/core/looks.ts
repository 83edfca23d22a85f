/** Looks again and again at what is due, one look at a time. */
import type { Timer } from './ports.ts';

interface LooksParts {
  readonly after: Timer;
  /** From the end of a look to the next, ms. */
  readonly every: number;
  /** Never rejects. */
  readonly look: () => Promise<void>;
}

export class Looks {
  readonly #parts: LooksParts;
  #cancel: () => void = () => undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;
  /** Something may be due before the next look. */
  #again = false;
  #busy = false;

  constructor(parts: LooksParts) {
    this.#parts = parts;
  }

  /** A look that is under way ends early. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Looks by itself from now on. */
  begin(): void {
    this.#cancel = this.#parts.after(this.#parts.every, () => this.wake());
  }

  /** Resolves when no look is under way any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  /** Looks now: something has changed. */
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
