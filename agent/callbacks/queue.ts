/** Waiting events of one receiver, in order, and their progress. Survives a power cut. */
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Memory } from '../ports.ts';

/** One queued event, by the id of its record. */
interface Waiting {
  readonly seq: number;
  readonly id: string;
  /** Time of arrival, UTC ms. */
  readonly at: number;
}

/** Number of lost events of a receiver, by reason. */
export interface Losses {
  /** There was no space for more events. */
  readonly dropped: number;
  /** All attempts failed. */
  readonly refused: number;
  /** Three days passed. */
  readonly expired: number;
  /** The stored event cannot be read or encoded. */
  readonly damaged: number;
}

export type Loss = keyof Losses;

/** Persisted form of a queue without its events. */
export interface QueueHead {
  readonly first: number;
  readonly next: number;
  readonly batch: number;
  readonly tries: number;
  readonly due?: number;
  readonly losses: Losses;
}

export const keyOf = (receiver: string): string => `delivery/${receiver}`;
export const entryKeyOf = (receiver: string, seq: number): string => `${keyOf(receiver)}/${seq}`;

/** The queue of one receiver. Every change is in the next {@link states}. */
export class Queue {
  readonly #receiver: string;
  readonly #entries: Waiting[] = [];
  readonly #ids = new Set<string>();
  #next = 0;
  #losses: Losses = { dropped: 0, refused: 0, expired: 0, damaged: 0 };
  #headChanged = false;
  readonly #changed = new Map<number, Waiting | undefined>();
  /** Number of events in the request that failed: it is repeated unchanged. */
  #batch = 0;
  /** Failed attempts at this request. */
  #tries = 0;
  /** Time of the next attempt, UTC ms. */
  #due: number | undefined;

  constructor(receiver: string) {
    this.#receiver = receiver;
  }

  get length(): number {
    return this.#entries.length;
  }

  /** True if there are changes to store. */
  get changed(): boolean {
    return this.#headChanged || this.#changed.size > 0;
  }

  get losses(): Losses {
    return this.#losses;
  }

  get batch(): number {
    return this.#batch;
  }

  get tries(): number {
    return this.#tries;
  }

  get due(): number | undefined {
    return this.#due;
  }

  get entries(): readonly Waiting[] {
    return this.#entries;
  }

  /** Adds an event. Returns false if it already waits. */
  push(id: string, at: number): boolean {
    if (this.#ids.has(id)) return false;
    const entry: Waiting = { seq: this.#next++, id, at };
    this.#entries.push(entry);
    this.#ids.add(id);
    this.#changed.set(entry.seq, entry);
    this.#headChanged = true;
    return true;
  }

  /** Removes the first `count` events, delivered or (if `loss` is set) lost. The next request is a new one. */
  shift(count: number, loss?: Loss): void {
    for (const entry of this.#entries.splice(0, count)) this.#forget(entry, loss);
    this.#batch = 0;
    this.#tries = 0;
    this.#due = undefined;
    this.#headChanged = true;
  }

  /** Drops the oldest event that is not in flight, to free space. The newest is never in flight. */
  drop(): void {
    const [entry] = this.#entries.splice(this.#batch, 1);
    if (entry === undefined) return;
    this.#forget(entry, 'dropped');
    this.#headChanged = true;
  }

  /** Drops only the event at `index`, and counts it as `loss`. */
  lose(index: number, loss: Loss): void {
    const [entry] = this.#entries.splice(index, 1);
    if (entry === undefined) return;
    this.#forget(entry, loss);
    this.#headChanged = true;
    if (index >= this.#batch) return;
    this.#batch--;
    if (this.#batch === 0) this.#tries = 0;
  }

  /** Fixes the first `count` events as one request until it is completed. */
  freeze(count: number): void {
    if (this.#batch === count) return;
    this.#batch = count;
    this.#headChanged = true;
  }

  /** Call after an attempt failed, or was impossible (`counts` false). The next attempt is at `due` (UTC ms). */
  postpone(due: number, counts: boolean): void {
    if (counts) this.#tries++;
    this.#due = due;
    this.#headChanged = true;
  }

  clear(): void {
    for (const entry of this.#entries.splice(0)) this.#forget(entry, undefined);
    this.#batch = 0;
    this.#tries = 0;
    this.#due = undefined;
    this.#headChanged = true;
  }

  /** Corrects times that were wrong by `by` ms. Returns the ids of these events. */
  correct(by: number, earliest: number, latest: number): string[] {
    const ids: string[] = [];
    for (const [index, entry] of this.#entries.entries()) {
      if (entry.at < earliest || entry.at > latest) continue;
      const moved: Waiting = { ...entry, at: entry.at + by };
      this.#entries[index] = moved;
      this.#changed.set(entry.seq, moved);
      ids.push(entry.id);
    }
    if (this.#due !== undefined) {
      this.#due += by;
      this.#headChanged = true;
    }
    return ids;
  }

  /** Returns the changes since the last call. If `alive` is false, removes the whole queue. */
  *states(alive: boolean): Generator<readonly [key: string, value: unknown]> {
    if (this.#headChanged || !alive) {
      this.#headChanged = false;
      yield [keyOf(this.#receiver), alive ? this.#head() : undefined];
    }
    for (const [seq, entry] of this.#changed) {
      yield [entryKeyOf(this.#receiver, seq), entry === undefined ? undefined : { id: entry.id, at: entry.at }];
    }
    this.#changed.clear();
  }

  /** Restores the persisted form. @throws VigieError `input.malformed` if it is not a queue */
  recall(memory: Pick<Memory, 'recall'>): void {
    const head = memory.recall(keyOf(this.#receiver)) as Partial<QueueHead> | undefined;
    if (head === undefined) return;
    const { first, next, batch, tries, due, losses } = head;
    if (!isCount(first) || !isCount(next) || !isCount(batch) || !isCount(tries) || next < first) {
      throw new VigieError('input.malformed', 'the stored value is not a queue', { where: keyOf(this.#receiver) });
    }
    this.#next = next;
    this.#losses = { ...this.#losses, ...losses };
    for (let seq = first; seq < next; seq++) {
      const entry = memory.recall(entryKeyOf(this.#receiver, seq)) as Partial<Waiting> | undefined;
      const { id, at } = entry ?? {};
      if (typeof id !== 'string' || typeof at !== 'number') continue;
      this.#entries.push({ seq, id, at });
      this.#ids.add(id);
    }
    this.#batch = Math.min(batch, this.#entries.length);
    this.#tries = tries;
    this.#due = typeof due === 'number' ? due : undefined;
  }

  #head(): QueueHead {
    return {
      first: this.#entries[0]?.seq ?? this.#next,
      next: this.#next,
      batch: this.#batch,
      tries: this.#tries,
      ...defined({ due: this.#due }),
      losses: this.#losses,
    };
  }

  #forget({ seq, id }: Waiting, loss: Loss | undefined): void {
    this.#ids.delete(id);
    this.#changed.set(seq, undefined);
    if (loss !== undefined) this.#losses = { ...this.#losses, [loss]: this.#losses[loss] + 1 };
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
