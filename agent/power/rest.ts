/** Sleep state of the unit, for parts that otherwise act on their own schedule. */
export interface Rest {
  readonly asleep: boolean;
  /** Calls `listener` after each change, until the returned function is called. */
  subscribe(listener: (asleep: boolean) => void): () => void;
}

/** The only holder of the unit's sleep state. The core sets it; adapters receive it as a {@link Rest}. */
export class UnitRest implements Rest {
  #asleep = false;
  readonly #listeners = new Set<(asleep: boolean) => void>();

  get asleep(): boolean {
    return this.#asleep;
  }

  subscribe(listener: (asleep: boolean) => void): () => void {
    // A separate function, so that the same listener can subscribe twice.
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
