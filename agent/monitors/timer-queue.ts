/** An item with a due time. */
export interface Due {
  /** UTC milliseconds; valid only while the item is in the queue. */
  due: number;
  /** Index in the heap of the queue, or -1 if not queued. Only the queue writes it. */
  place: number;
}

/**
 * Items by due time, soonest first: a binary heap. Items store their index, so that each can be moved or removed.
 */
export class TimerQueue<T extends Due> {
  readonly #heap: T[] = [];

  /** Due time of the next item, UTC ms; Infinity if there are no items. */
  get next(): number {
    return this.#heap[0]?.due ?? Number.POSITIVE_INFINITY;
  }

  /** Adds an item, or moves it if it is already queued. */
  set(item: T, due: number): void {
    item.due = due;
    if (item.place < 0) item.place = this.#heap.push(item) - 1;
    this.#up(item.place);
    this.#down(item.place);
  }

  remove(item: T): void {
    const { place } = item;
    if (place < 0) return;
    item.place = -1;
    const last = this.#heap.pop() as T;
    if (last === item) return;
    this.#put(last, place);
    this.#up(place);
    this.#down(last.place);
  }

  /** Removes and returns the soonest item if it is due. */
  take(now: number): T | undefined {
    const [first] = this.#heap;
    if (first === undefined || first.due > now) return undefined;
    this.remove(first);
    return first;
  }

  /** Changes the due times of all items. */
  move(to: (item: T) => number): void {
    const items = this.#heap.splice(0);
    for (const item of items) {
      item.place = -1;
      this.set(item, to(item));
    }
  }

  #put(item: T, place: number): void {
    this.#heap[place] = item;
    item.place = place;
  }

  #up(from: number): void {
    const item = this.#heap[from] as T;
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#heap[above] as T;
      if (parent.due <= item.due) break;
      this.#put(parent, place);
      place = above;
    }
    this.#put(item, place);
  }

  #down(from: number): void {
    const item = this.#heap[from] as T;
    const size = this.#heap.length;
    let place = from;
    for (let below = 2 * place + 1; below < size; below = 2 * place + 1) {
      const right = this.#heap[below + 1];
      if (right !== undefined && right.due < (this.#heap[below] as T).due) below++;
      const child = this.#heap[below] as T;
      if (child.due >= item.due) break;
      this.#put(child, place);
      place = below;
    }
    this.#put(item, place);
  }
}
