/** Sends acknowledged messages again: a receiver requests those that it lacks. */
import { VigieError } from '../../protocol/errors.ts';
import { Runs } from '../../protocol/runs.ts';
import type { Clock, Link, Log, OutboxEntry, OutboxStore, OwedNumbers } from '../ports.ts';

/** Interval in ms at which a piece of the disk is searched: about 2.5 MB/s, which slows nothing else in the unit. */
const STEP = 50;
/** Largest number of runs in the pending requests. A caller that needs more must repeat its request later. */
const MOST_RUNS = 1024;

interface RepetitionParts {
  readonly store: OutboxStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly link: Pick<Link, 'connected'>;
  /** Number of repeated messages that may be in flight in addition to messages that were never acknowledged. */
  readonly room: () => number;
  /** As {@link Link.publish}. */
  readonly publish: (entry: OutboxEntry) => Promise<void>;
  /** Called when a message is no longer in flight. */
  readonly sent: () => void;
  /** Called with the numbers of messages that no longer exist. */
  readonly gone: (numbers: OwedNumbers) => void;
}

/**
 * Requests to send messages again, in memory only: a receiver that lacks a message repeats its request. One search
 * through all files serves all requests up to its start; the next serves later ones. Memory holds one step's results.
 */
export class Repetition {
  readonly #parts: RepetitionParts;
  /** Numbers of the present search, and of the next one, by class. */
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

  /** Requests messages again. @throws VigieError `command.tooFast` for too many numbers at a time: accepts none then */
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

  /** Sends as many of the found messages as there is room for, and continues the search. */
  send(): void {
    const { link, room } = this.#parts;
    while (!this.#stopped && link.connected && this.underway < room()) {
      const entry = this.#found.shift();
      if (entry === undefined) break;
      this.#publish(entry);
    }
    this.#look();
  }

  /** Stops searching and cancels the timer. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** If the broker refuses a message, its receiver repeats the request; the link resends lost messages by itself. */
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

  /** Schedules the search of the next piece if no found message is left to send. */
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
      // Queued messages are sent anyway. One that is acknowledged before the search ends must not be reported as gone.
      for (const { class: priority, seq } of store.entries()) this.#wanted.get(priority)?.remove(seq);
      this.#search = store.find?.((priority, seq) => this.#wants(priority, seq)) ?? [].values();
    }
    try {
      const step = this.#search.next();
      if (step.done === true) this.#end();
      else for (const entry of step.value) this.#take(entry);
    } catch (error) {
      // Some messages may be in files that cannot be read now: report none as gone; the receiver repeats its request.
      log.error('outbox.repeatUnreadable', { error: (error as Error).message });
      this.#search = undefined;
      this.#wanted.clear();
    }
    this.send();
    this.#look();
  }

  /** Reports the numbers that are in no file as gone. */
  #end(): void {
    const { gone } = this.#parts;
    this.#search = undefined;
    for (const [priority, { all }] of this.#wanted) if (all.length > 0) gone({ class: priority, numbers: [...all] });
    this.#wanted.clear();
  }

  /** Queues a found message. A message that was moved on the disk is found twice, but queued once. */
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
