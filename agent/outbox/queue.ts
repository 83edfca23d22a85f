import type { OutboxEntry } from '../ports.ts';

/**
 * What waits to be sent, by priority: the lowest class number first, within a class in order of sequence. Entries
 * put in front go before all others.
 */
export class SendQueue {
  #size = 0;
  readonly #front: OutboxEntry[] = [];
  /** By class: entries with the index of the first that is not yet taken, so that taking costs nothing. */
  readonly #classes: { entries: OutboxEntry[]; from: number }[] = [];

  get size(): number {
    return this.#size;
  }

  push(entry: OutboxEntry): void {
    this.#size++;
    this.#classOf(entry).entries.push(entry);
  }

  pushFirst(entry: OutboxEntry): void {
    this.#size++;
    this.#front.push(entry);
  }

  /** Puts back what was taken and not acknowledged, at its place. */
  restore(entries: readonly OutboxEntry[]): void {
    for (const entry of entries) {
      const queue = this.#classOf(entry);
      const rest = queue.entries.slice(queue.from);
      let place = rest.length;
      while (place > 0 && (rest[place - 1] as OutboxEntry).seq > entry.seq) place--;
      rest.splice(place, 0, entry);
      queue.entries = rest;
      queue.from = 0;
      this.#size++;
    }
  }

  take(): OutboxEntry | undefined {
    const first = this.#front.shift();
    if (first !== undefined) {
      this.#size--;
      return first;
    }
    for (const queue of this.#classes) {
      if (queue === undefined) continue;
      const entry = queue.entries[queue.from];
      if (entry === undefined) continue;
      this.#advance(queue);
      return entry;
    }
    return undefined;
  }

  /** Takes the entry that matters least: of the last class the oldest. */
  evict(): OutboxEntry | undefined {
    for (let index = this.#classes.length - 1; index >= 0; index--) {
      const queue = this.#classes[index];
      const entry = queue?.entries[queue.from];
      if (queue === undefined || entry === undefined) continue;
      this.#advance(queue);
      return entry;
    }
    return undefined;
  }

  /** Steps over the first entry, and lets go of what was stepped over from time to time. */
  #advance(queue: { entries: OutboxEntry[]; from: number }): void {
    this.#size--;
    queue.from++;
    if (queue.from > 1024 && queue.from * 2 > queue.entries.length) {
      queue.entries = queue.entries.slice(queue.from);
      queue.from = 0;
    }
  }

  #classOf(entry: OutboxEntry): { entries: OutboxEntry[]; from: number } {
    for (let index = this.#classes.length; index <= entry.class; index++) {
      this.#classes.push({ entries: [], from: 0 });
    }
    return this.#classes[entry.class] as { entries: OutboxEntry[]; from: number };
  }
}
