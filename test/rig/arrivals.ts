/** Things as they come, and a way to wait for one of them. */
export class Arrivals<T> {
  /** Everything that came, in order. */
  readonly all: T[] = [];
  readonly #waiting = new Set<() => boolean>();
  /** Position behind the last item that was taken. */
  #taken = 0;

  push(item: T): void {
    this.all.push(item);
    for (const look of this.#waiting) if (look()) this.#waiting.delete(look);
  }

  /** The next item that fits, behind the last one taken; waits for it when it has not come. */
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
