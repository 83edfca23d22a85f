/**
 * Delivers the waiting events of one receiver: in order, one request at a time, repeated until accepted or abandoned.
 */
import { EARLIEST_TIME } from '../../protocol/calendar.ts';
import type { Clock, Log } from '../ports.ts';
import type { Destination } from './destination.ts';
import type { Notification } from './notification.ts';
import type { NotificationItem, Receipt, RequestBatch } from './notifier.ts';
import { type Loss, type Losses, Queue } from './queue.ts';

/** Time in ms after which all attempts end (three days). Interface 3.18.0 and 4.16.0, rules of delivery. */
const LIFETIME = 259_200_000;
/** Delay in ms before the next attempt after a refused write, or without a connection. */
export const AGAIN = 10_000;
/** Longest delay in ms that a receiver may request. */
const LONGEST_PLEA = 3_600_000;

interface ReceiverParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Loads the notification with this id. Returns undefined if it is missing or cannot be read. */
  readonly load: (id: string) => Notification | undefined;
  /** Resolves when all changes are on disk. */
  readonly committed: () => Promise<void>;
  /** Encodes the items as one request, or as many from the first on as fit. */
  readonly batch: (to: Destination, items: readonly NotificationItem[]) => RequestBatch;
  readonly send: (batch: RequestBatch) => Promise<Receipt>;
  /** Returns undefined if the callback of this receiver was removed. */
  readonly destination: () => Destination | undefined;
  readonly running: () => boolean;
  /** Called when the receiver reports that it no longer exists. */
  readonly gone: (reason: string) => void;
  /** Called when no event is queued any more. */
  readonly idle: () => void;
}

export class Receiver {
  readonly key: string;
  readonly #parts: ReceiverParts;
  readonly #queue: Queue;
  #sending = false;
  #stopped = false;
  #cancel: (() => void) | undefined;
  /** Monotonic times: the next attempt, and since when the first event of a batch has been waiting. */
  #due: number | undefined;
  #since: number | undefined;
  /** True after a failed attempt: the log reports the first failure and the recovery. */
  #failing = false;
  /** The last logged defect, which is not logged twice in a row. */
  #defect: string | undefined;

  constructor(key: string, parts: ReceiverParts) {
    this.key = key;
    this.#parts = parts;
    this.#queue = new Queue(key);
  }

  get length(): number {
    return this.#queue.length;
  }

  /** True if there are changes to store. */
  get changed(): boolean {
    return this.#queue.changed;
  }

  get losses(): Losses {
    return this.#queue.losses;
  }

  states(alive: boolean): Generator<readonly [key: string, value: unknown]> {
    return this.#queue.states(alive);
  }

  /** Restores the persisted form. @throws VigieError `input.malformed` */
  recall(memory: Parameters<Queue['recall']>[0]): void {
    this.#queue.recall(memory);
    const { clock, destination } = this.#parts;
    const { due, entries, tries } = this.#queue;
    this.#failing = tries > 0;
    const delay = destination()?.delay ?? 0;
    // Even if the clock was set meanwhile, the rest of the delay is at most the whole delay.
    if (due !== undefined) this.#due = clock.monotonic() + Math.min(Math.max(0, due - clock.now()), delay || AGAIN);
    const first = entries[0];
    if (first !== undefined) this.#since = clock.monotonic() - Math.max(0, clock.now() - first.at);
  }

  /** Adds an event to the queue; `poke` sends it. */
  push(id: string): void {
    const { clock } = this.#parts;
    if (this.#queue.push(id, Math.round(clock.now())) && this.#queue.length === 1) this.#since = clock.monotonic();
  }

  drop(): void {
    this.#queue.drop();
  }

  /** Sends the next request if it is due. */
  poke(): void {
    if (this.#sending || this.#stopped) return;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#expire();
    const { clock, destination, running, idle } = this.#parts;
    const to = destination();
    // A removed receiver has no address to send to.
    if (to === undefined) this.#queue.clear();
    if (to === undefined || this.#queue.length === 0) {
      idle();
      return;
    }
    if (!running()) return;
    const now = clock.monotonic();
    const due = this.#due ?? this.#gathered(to, now);
    if (due > now) {
      this.#cancel = clock.after(due - now, () => this.poke());
      return;
    }
    this.#sending = true;
    this.#send(to)
      .catch((error: Error) => {
        // A defect must not stop the queue forever.
        this.#say(error);
        this.#wait(AGAIN, true);
      })
      .finally(() => {
        this.#sending = false;
        this.poke();
      });
  }

  /** Stops sending, without waiting for a request in flight. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Removes all waiting events. */
  clear(): void {
    this.#queue.clear();
  }

  correct(by: number, earliest: number, latest: number): string[] {
    return this.#queue.correct(by, earliest, latest);
  }

  /** Returns the monotonic time of the next request: a batch that is not full waits for more events. */
  #gathered(to: Destination, now: number): number {
    if (this.#queue.batch > 0 || this.#queue.length >= to.batch) return now;
    return (this.#since ?? now) + to.window;
  }

  #expire(): void {
    const now = this.#parts.clock.now();
    // Events from before the clock was set have waited for an unknown time.
    const late = this.#queue.entries.findIndex(({ at }) => at < EARLIEST_TIME || now - at < LIFETIME);
    const count = late === -1 ? this.#queue.length : late;
    if (count > 0) this.#giveUp(count, 'expired');
  }

  async #send(to: Destination): Promise<void> {
    const batch = this.#write(to);
    if (batch === undefined) return;
    this.#queue.freeze(batch.count);
    try {
      // An event sent before it is on disk could be sent again under another id after a power cut.
      await this.#parts.committed();
    } catch (error) {
      this.#parts.log.warn('callbacks.waiting', { receiver: this.key, error: (error as Error).message });
      this.#wait(AGAIN, false);
      return;
    }
    if (this.#stopped || !this.#parts.running()) return;
    const receipt = await this.#parts.send(batch);
    if (!this.#stopped) this.#settle(to, batch.count, receipt);
  }

  /** Returns the next request, or undefined if no waiting event can be encoded. */
  #write(to: Destination): RequestBatch | undefined {
    const { batch } = this.#parts;
    for (let items = this.#items(to); items.length > 0; items = this.#items(to)) {
      try {
        return batch(to, items);
      } catch (error) {
        this.#say(error as Error);
        const [first] = items;
        const alone = items.findIndex((item) => !isWritable(() => batch(to, [item])));
        // An event that cannot be encoded now never can be, and it would delay all later events.
        if (alone >= 0) this.#lose(alone, items[alone]?.id, 'callbacks.unencodable');
        else if (first !== undefined) return batch(to, [first]);
      }
    }
    return undefined;
  }

  /** Drops one of the first events as lost; clients can still read its record. */
  #lose(index: number, id: string | undefined, event: 'callbacks.unencodable' | 'callbacks.unreadableEvent'): void {
    this.#parts.log.error(event, { receiver: this.key, id });
    this.#queue.lose(index, 'damaged');
  }

  #say(defect: Error): void {
    if (defect.message === this.#defect) return;
    this.#defect = defect.message;
    this.#parts.log.error('callbacks.defect', { receiver: this.key, error: defect.message });
  }

  /** Returns the items of the largest possible batch. An unreadable record is lost and logged. */
  #items(to: Destination): NotificationItem[] {
    const items: NotificationItem[] = [];
    const most = (): number => this.#queue.batch || to.batch;
    while (items.length < Math.min(most(), this.#queue.length)) {
      const entry = this.#queue.entries[items.length];
      const notification = entry && this.#parts.load(entry.id);
      if (entry !== undefined && notification !== undefined) items.push({ id: entry.id, notification });
      else {
        this.#lose(items.length, entry?.id, 'callbacks.unreadableEvent');
      }
    }
    return items;
  }

  #settle(to: Destination, count: number, receipt: Receipt): void {
    if (receipt.outcome === 'delivered') this.#taken(count);
    else if (receipt.outcome === 'gone') this.#ended(to, count, receipt.reason);
    else if (receipt.outcome === 'offline') this.#wait(Math.max(to.delay, AGAIN), false);
    else this.#failed(to, count, receipt);
  }

  #taken(count: number): void {
    if (this.#failing) this.#parts.log.info('callbacks.accepting', { receiver: this.key });
    this.#failing = false;
    this.#defect = undefined;
    this.#next(count);
  }

  #ended(to: Destination, count: number, reason: string): void {
    this.#parts.gone(reason);
    // A receiver that is still needed gets another attempt.
    if (!this.#stopped) this.#failed(to, count, { outcome: 'failed', reason });
  }

  #failed(to: Destination, count: number, receipt: Receipt & { readonly outcome: 'failed' }): void {
    const { reason, delivered = 0, after = 0 } = receipt;
    if (!this.#failing) this.#parts.log.warn('callbacks.refusing', { receiver: this.key, reason });
    this.#failing = true;
    if (delivered > 0) this.#next(Math.min(delivered, count));
    else if (this.#queue.tries + 1 >= to.tries) {
      this.#giveUp(count, 'refused');
      return;
    }
    this.#wait(Math.max(to.delay, Math.min(after, LONGEST_PLEA)), true);
  }

  /** Removes the first `count` events; the next request may be sent at once. */
  #next(count: number, loss?: Loss): void {
    this.#queue.shift(count, loss);
    this.#due = undefined;
    this.#since = this.#parts.clock.monotonic() - this.#ageOfFirst();
  }

  #ageOfFirst(): number {
    const first = this.#queue.entries[0];
    return first === undefined ? 0 : Math.max(0, this.#parts.clock.now() - first.at);
  }

  #giveUp(count: number, loss: Loss): void {
    this.#next(count, loss);
    this.#parts.log.warn('callbacks.undelivered', { receiver: this.key, count, loss });
  }

  #wait(delay: number, counts: boolean): void {
    const { clock } = this.#parts;
    this.#due = clock.monotonic() + delay;
    this.#queue.postpone(Math.round(clock.now() + delay), counts);
  }
}

function isWritable(write: () => unknown): boolean {
  try {
    write();
    return true;
  } catch {
    // The reason was logged when all items were encoded together.
    return false;
  }
}
