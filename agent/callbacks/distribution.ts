/** All receivers of the car: each has its own queue and rate, and all together have limits. */
import { reachesPowerOfTwo } from '../../protocol/powers-of-two.ts';
import { agentSettings, type CallbackSettings } from '../../protocol/settings.ts';
import type { Clock, Log, Memory, RecordStore } from '../ports.ts';
import type { Destination } from './destination.ts';
import { NOTIFICATIONS, type Notification, shifted, timeOf } from './notification.ts';
import type { Notifier, Receipt, RequestBatch } from './notifier.ts';
import type { Losses } from './queue.ts';
import { Receiver } from './receiver.ts';

const KEY = 'delivery';

export interface DeliveryBounds extends CallbackSettings {
  /** Maximum number of queued events of all receivers together. */
  readonly total: number;
  /** Maximum number of concurrent requests: each can hang until its time-out without delaying another. */
  readonly requests: number;
}

/** A queue holds one event per minute for three days. All queues together use a few megabytes of memory. */
export const deliveryBounds: DeliveryBounds = {
  ...agentSettings().callbacks,
  total: 20_000,
  requests: 256,
};

interface DistributionParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly records: RecordStore;
  readonly notifier: Notifier;
  readonly committed: () => Promise<void>;
  readonly bounds: DeliveryBounds;
  readonly destination: (receiver: string) => Destination | undefined;
  readonly running: (receiver: string) => boolean;
  readonly gone: (receiver: string, reason: string) => void;
  /** Called when no event waits for the receiver. Returns false if the receiver can be removed. */
  readonly idle: (receiver: string) => boolean;
}

export class Distribution {
  readonly #parts: DistributionParts;
  readonly #receivers = new Map<string, Receiver>();
  #removed: Receiver[] = [];
  #listChanged = false;
  #running = false;
  /** Receivers to check when the present operation is complete. */
  readonly #awake = new Set<string>();
  #cancel: (() => void) | undefined;
  #requests = 0;
  readonly #queued: (() => void)[] = [];

  constructor(parts: DistributionParts) {
    this.#parts = parts;
  }

  /** Number of waiting events by receiver. */
  get waiting(): ReadonlyMap<string, number> {
    return new Map([...this.#receivers].map(([key, { length }]) => [key, length]));
  }

  /** Losses so far, by receiver. */
  get losses(): ReadonlyMap<string, Losses> {
    return new Map([...this.#receivers].map(([key, { losses }]) => [key, losses]));
  }

  start(): void {
    this.#running = true;
    for (const key of this.#receivers.keys()) this.wake(key);
  }

  stop(): void {
    this.#running = false;
    this.#cancel?.();
    this.#cancel = undefined;
    for (const receiver of this.#receivers.values()) receiver.stop();
  }

  /** Stores the notification and queues it for the receivers. */
  tell(receivers: readonly string[], id: string, notification: Notification): void {
    const { records, log } = this.#parts;
    try {
      records.put(NOTIFICATIONS, { id, at: timeOf(notification), record: notification });
    } catch (error) {
      log.error('callbacks.unstored', { id, error: (error as Error).message });
      return;
    }
    for (const key of receivers) {
      const receiver = this.#receiver(key);
      receiver.push(id);
      if (receiver.length > this.#parts.bounds.queueLimit) this.#drop(receiver);
      this.wake(key);
    }
    this.#bound();
  }

  /** Checks a receiver in a separate step, so that simultaneous events are committed and sent together. */
  wake(key: string): void {
    if (!this.#running) return;
    this.#awake.add(key);
    this.#cancel ??= this.#parts.clock.after(0, () => {
      this.#cancel = undefined;
      const keys = [...this.#awake];
      this.#awake.clear();
      for (const one of keys) this.#receivers.get(one)?.poke();
    });
  }

  /** Removes a receiver and its waiting events. */
  remove(key: string): void {
    const receiver = this.#receivers.get(key);
    if (receiver === undefined) return;
    receiver.stop();
    receiver.clear();
    this.#receivers.delete(key);
    this.#removed.push(receiver);
    this.#listChanged = true;
    this.release(key);
  }

  /** Closes the connections of the receiver, which gets no requests for the time being. */
  release(key: string): void {
    this.#parts.notifier.release(key);
  }

  /** Corrects the times of events between `earliest` and `latest`, which were `by` ms too early. */
  correct(by: number, earliest: number, latest: number): void {
    const ids = new Set<string>();
    for (const receiver of this.#receivers.values()) {
      for (const id of receiver.correct(by, earliest, latest)) ids.add(id);
    }
    const { records } = this.#parts;
    for (const id of ids) {
      const notification = this.#load(id);
      if (notification === undefined) continue;
      const record = shifted(notification, by);
      records.put(NOTIFICATIONS, { id, at: timeOf(record), record });
    }
  }

  *states(): Generator<readonly [key: string, value: unknown]> {
    if (this.#listChanged) {
      this.#listChanged = false;
      yield [KEY, [...this.#receivers.keys()]];
    }
    // Removed receivers first: a receiver that was added again stores its new state under the same keys.
    for (const receiver of this.#removed) yield* receiver.states(false);
    this.#removed = [];
    for (const receiver of this.#receivers.values()) if (receiver.changed) yield* receiver.states(true);
  }

  /** Returns the keys of the stored receivers. */
  static kept(memory: Pick<Memory, 'recall'>): string[] {
    const keys = memory.recall(KEY);
    return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
  }

  recall(memory: Pick<Memory, 'recall'>, keys: readonly string[]): void {
    for (const key of keys) {
      const receiver = this.#receiver(key);
      try {
        receiver.recall(memory);
      } catch (error) {
        this.#parts.log.error('callbacks.queueUnreadable', {
          key,
          error: (error as Error).message,
        });
      }
    }
    this.#listChanged = false;
  }

  #receiver(key: string): Receiver {
    const known = this.#receivers.get(key);
    if (known !== undefined) return known;
    const { clock, log, notifier, committed, destination, running, gone, idle } = this.#parts;
    const receiver = new Receiver(key, {
      clock,
      log,
      committed,
      load: (id) => this.#load(id),
      batch: (to, items) => notifier.batch(key, to, items),
      send: (batch) => this.#send(batch),
      destination: () => destination(key),
      running: () => this.#running && running(key),
      gone: (reason) => gone(key, reason),
      idle: () => {
        if (!idle(key)) this.remove(key);
      },
    });
    this.#receivers.set(key, receiver);
    this.#listChanged = true;
    return receiver;
  }

  #load(id: string): Notification | undefined {
    const record = this.#parts.records.get(NOTIFICATIONS, id)?.record as Notification | undefined;
    return record?.type === 'Monitor' || record?.type === 'Remote' ? record : undefined;
  }

  #drop(receiver: Receiver): void {
    receiver.drop();
    const { dropped } = receiver.losses;
    if (reachesPowerOfTwo(dropped - 1, dropped)) {
      this.#parts.log.warn('callbacks.dropped', { receiver: receiver.key, dropped });
    }
  }

  #bound(): void {
    const { total } = this.#parts.bounds;
    let sum = 0;
    let longest: Receiver | undefined;
    for (const receiver of this.#receivers.values()) {
      sum += receiver.length;
      if (longest === undefined || receiver.length > longest.length) longest = receiver;
    }
    for (; sum > total && longest !== undefined; sum--) this.#drop(longest);
  }

  async #send(batch: RequestBatch): Promise<Receipt> {
    if (this.#requests >= this.#parts.bounds.requests) await new Promise<void>((go) => this.#queued.push(go));
    else this.#requests++;
    try {
      return await batch.send();
    } catch (error) {
      return { outcome: 'failed', reason: (error as Error).message };
    } finally {
      const next = this.#queued.shift();
      if (next === undefined) this.#requests--;
      else next();
    }
  }
}
