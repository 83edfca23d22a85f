/** Whether the unit sleeps, for whatever would otherwise do something of its own accord. */
export interface Rest {
  readonly asleep: boolean;
  /** Calls `listener` after each change, until the returned function is called. */
  subscribe(listener: (asleep: boolean) => void): () => void;
}

/** The one place where a unit's sleep is known. The core sets it; adapters are given it as a {@link Rest}. */
export class UnitRest implements Rest {
  #asleep = false;
  readonly #listeners = new Set<(asleep: boolean) => void>();

  get asleep(): boolean {
    return this.#asleep;
  }

  subscribe(listener: (asleep: boolean) => void): () => void {
    // Its own object, so that the same function may listen twice.
    const own = (asleep: boolean): void => listener(asleep);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  readonly set = (asleep: boolean): void => {
    if (asleep === this.#asleep) return;
    this.#asleep = asleep;
    for (const listener of [...this.#listeners]) listener(asleep);
  };
}
