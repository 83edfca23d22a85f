/** Sends messages again that were acknowledged: a receiver asks for what it does not have. */
import { VigieError } from '../../protocol/errors.ts';
import { Runs } from '../../protocol/runs.ts';
import type { Clock, Link, Log, OutboxEntry, OutboxStore, OwedNumbers } from '../ports.ts';

/** A piece of the disk is searched this often, ms: some 2.5 MB a second, which nothing else in the unit feels. */
const STEP = 50;
/** Runs of numbers in one request. A caller that needs more must ask again later. */
const MOST_RUNS = 1024;

interface RepetitionParts {
  readonly store: OutboxStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly link: Pick<Link, 'connected'>;
  /** Number of repeated messages that may be in flight in addition to those that were never acknowledged. */
  readonly room: () => number;
  /** As {@link Link.publish}. */
  readonly publish: (entry: OutboxEntry) => Promise<void>;
  /** Called when a message is no longer in flight. */
  readonly sent: () => void;
  /** Called with the numbers of messages that no longer exist. */
  readonly gone: (numbers: OwedNumbers) => void;
}

/**
 * Requests to send messages again, in memory only: a receiver that does not get one asks again. One search through all
 * files serves all requests up to its start; the next search serves later ones. Memory holds the results of one step.
 */
export class Repetition {
  readonly #parts: RepetitionParts;
  /** By class: numbers of the present search, and of the next one. */
  #wanted = new Map<number, Runs>();
  #next = new Map<number, Runs>();
  #search: Iterator<readonly OutboxEntry[]> | undefined;
  #found: OutboxEntry[] = [];
  #cancel: (() => void) | undefined;
  #stopped = false;
  /** Number of messages in flight. */
  underway = 0;

  constructor(parts: RepetitionParts) {
    this.#parts = parts;
  }

  /** @throws VigieError `command.tooFast` for too many numbers at a time: none of them is searched for then */
  ask({ class: priority, numbers }: OwedNumbers): void {
    if (countIn(this.#next) + countIn(this.#wanted) + numbers.length > MOST_RUNS) {
      throw new VigieError('command.tooFast', `more than ${MOST_RUNS} runs of numbers are asked for; ask again later`);
    }
    const runs = this.#next.get(priority) ?? new Runs();
    this.#next.set(priority, runs);
    // Numbers that were never assigned are not missing.
    const last = this.#parts.store.nextSeq(priority) - 1;
    for (const [from, to] of numbers) if (from <= last) runs.add(from, Math.min(to, last));
    this.#look();
  }

  /** Sends of what was found as much as there is room for, and has more searched. */
  send(): void {
    const { link, room } = this.#parts;
    while (!this.#stopped && link.connected && this.underway < room()) {
      const entry = this.#found.shift();
      if (entry === undefined) break;
      this.#publish(entry);
    }
    this.#look();
  }

  /** Searches no more; no timer is left. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** If the broker refuses a message, its receiver asks again; the link sends lost messages when it is back. */
  #publish(entry: OutboxEntry): void {
    const { link, log, publish, sent } = this.#parts;
    this.underway++;
    void publish(entry)
      .catch((error: unknown) => {
        const { kind, class: priority, seq } = entry;
        if (!link.connected) this.#found.unshift(entry);
        else log.warn('outbox.repeatRefused', { kind, class: priority, seq, error: String(error) });
      })
      .then(() => {
        this.underway--;
        sent();
      });
  }

  /** Has the next piece searched when nothing waits that was found. */
  #look(): void {
    if (this.#stopped || this.#found.length > 0 || (this.#search === undefined && countIn(this.#next) === 0)) return;
    this.#cancel ??= this.#parts.clock.after(STEP, () => {
      this.#cancel = undefined;
      this.#step();
    });
  }

  #step(): void {
    const { store, log } = this.#parts;
    if (this.#search === undefined) {
      this.#wanted = this.#next;
      this.#next = new Map();
      // Waiting messages are sent anyway: one can be acknowledged before the search ends, and is not gone then.
      for (const { class: priority, seq } of store.entries()) this.#wanted.get(priority)?.remove(seq);
      this.#search = store.find?.((priority, seq) => this.#wants(priority, seq)) ?? [].values();
    }
    try {
      const step = this.#search.next();
      if (step.done === true) this.#end();
      else for (const entry of step.value) this.#take(entry);
    } catch (error) {
      // Some may be in files that cannot be read now: report none of them as gone; the receiver asks again.
      log.error('outbox.repeatUnreadable', { error: (error as Error).message });
      this.#search = undefined;
      this.#wanted.clear();
    }
    this.send();
    this.#look();
  }

  /** Reports the numbers that no file has as gone. */
  #end(): void {
    const { gone } = this.#parts;
    this.#search = undefined;
    for (const [priority, { all }] of this.#wanted) if (all.length > 0) gone({ class: priority, numbers: [...all] });
    this.#wanted.clear();
  }

  /** A message that was moved on the disk is there twice. */
  #take(entry: OutboxEntry): void {
    const { class: priority, seq } = entry;
    if (!this.#wants(priority, seq)) return;
    this.#wanted.get(priority)?.remove(seq);
    this.#found.push(entry);
  }

  #wants(priority: number, seq: number): boolean {
    return this.#wanted.get(priority)?.has(seq) === true;
  }
}

function countIn(wanted: ReadonlyMap<number, Runs>): number {
  return [...wanted.values()].reduce((sum, { all }) => sum + all.length, 0);
}
