/** Whether the unit sleeps, for whatever would otherwise do something of its own accord. */
export interface Rest {
  readonly asleep: boolean;
  /** Calls `told` after each change; the result ends that. */
  heed(told: (asleep: boolean) => void): () => void;
}

/** The one place where a unit's sleep is known. The core sets it; adapters are given it as a {@link Rest}. */
export class UnitRest implements Rest {
  #asleep = false;
  readonly #listeners = new Set<(asleep: boolean) => void>();

  get asleep(): boolean {
    return this.#asleep;
  }

  heed(told: (asleep: boolean) => void): () => void {
    // Its own object, so that the same function may listen twice.
    const listener = (asleep: boolean): void => told(asleep);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  readonly set = (asleep: boolean): void => {
    if (asleep === this.#asleep) return;
    this.#asleep = asleep;
    for (const told of [...this.#listeners]) told(asleep);
  };
}
