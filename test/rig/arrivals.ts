/** Collects items in the order of arrival, and waits for the next one. */
export class Arrivals<T> {
  /** All items, in order. */
  readonly all: T[] = [];
  readonly #waiting = new Set<() => boolean>();
  /** Position after the last item taken. */
  #taken = 0;

  push(item: T): void {
    this.all.push(item);
    for (const look of this.#waiting) if (look()) this.#waiting.delete(look);
  }

  /** Returns the next matching item after the last one taken. Waits if it has not arrived. */
  take(fits: (item: T) => boolean = () => true): Promise<T> {
    return new Promise((resolve) => {
      const look = (): boolean => {
        const at = this.all.findIndex((item, i) => i >= this.#taken && fits(item));
        const item = this.all[at];
        if (item === undefined) return false;
        this.#taken = at + 1;
        resolve(item);
        return true;
      };
      if (!look()) this.#waiting.add(look);
    });
  }
}
