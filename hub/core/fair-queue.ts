/** Waiting messages of all cars. A commit takes equal shares of the cars, so that one car cannot delay the others. */

export interface QueuedItem {
  /** Key of the car. */
  readonly car: string;
  readonly bytes: number;
}

/** Largest number and size of the items that {@link FairQueue.take} returns. */
interface QueueShare {
  readonly items: number;
  readonly bytes: number;
}

export class FairQueue<T extends QueuedItem> {
  /** Items of each car, oldest first. The car that is due first comes first. No list is empty. */
  readonly #cars = new Map<string, T[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds an item behind the others of its car. @returns the number of items of the car */
  add(item: T): number {
    const own = this.#cars.get(item.car) ?? [];
    own.push(item);
    this.#cars.set(item.car, own);
    this.#length++;
    return own.length;
  }

  /** Adds items that precede the other items of their cars. */
  addFirst(items: readonly T[]): void {
    for (const item of items.toReversed()) this.#cars.set(item.car, [item, ...(this.#cars.get(item.car) ?? [])]);
    this.#length += items.length;
  }

  /**
   * Removes and returns items: one of each car in turn until all are taken or a limit is reached. Returns at least one
   * item if there are any. The items of each car keep their order. Cars that got least are first the next time.
   */
  take({ items, bytes }: QueueShare): readonly T[] {
    const shares = new Map<string, number>();
    let [count, size] = [0, 0];
    // A round takes one item of each car that has one left.
    for (let round = [...this.#cars]; round.length > 0; ) {
      const next: typeof round = [];
      for (const [car, own] of round) {
        const taken = shares.get(car) ?? 0;
        const item = own[taken] as T;
        if (count === items || (count > 0 && size + item.bytes > bytes)) return this.#remove(shares);
        shares.set(car, taken + 1);
        count++;
        size += item.bytes;
        if (taken + 1 < own.length) next.push([car, own]);
      }
      round = next;
    }
    return this.#remove(shares);
  }

  /** Removes the first items of each car. Cars that have more go behind the cars that got nothing. */
  #remove(shares: ReadonlyMap<string, number>): readonly T[] {
    const taken: T[] = [];
    for (const [car, count] of shares) {
      const own = this.#cars.get(car) ?? [];
      taken.push(...own.splice(0, count));
      this.#cars.delete(car);
      if (own.length > 0) this.#cars.set(car, own);
    }
    this.#length -= taken.length;
    return taken;
  }
}
