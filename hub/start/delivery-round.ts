/** Sends the next requests to a claimed receiver, with the car's queue filled from the database. */

import type { Destination } from '../../agent/callbacks/destination.ts';
import type { NotificationItem, Notifier, Receipt, RequestBatch } from '../../agent/callbacks/notifier.ts';
import { entryKeyOf, keyOf, type QueueHead } from '../../agent/callbacks/queue.ts';
import { AGAIN, Receiver } from '../../agent/callbacks/receiver.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { ClaimedReceiver, DeliveryChange, WaitingDelivery } from '../core/deliveries.ts';
import type { DeliveryMeasures } from '../core/delivery-measures.ts';

/** Longest response time of a healthy receiver in ms. */
const QUICK = 1_000;
/** Longest duration of a round in ms. After it, other receivers have their turn. */
const LONGEST = 5_000;

interface DeliveryRoundParts {
  readonly receiver: ClaimedReceiver;
  readonly to: Destination;
  readonly waiting: readonly WaitingDelivery[];
  /** The readable deliveries of {@link waiting}, in the same order. */
  readonly items: readonly NotificationItem[];
  /** Duration in ms of the claim after each change. */
  readonly lasts: number;
  readonly notifier: Pick<Notifier, 'batch'>;
  readonly measures: DeliveryMeasures;
  readonly clock: Clock;
  readonly log: Log;
  /** Saves a change. Resolves with false if this hub has lost the receiver. */
  readonly save: (change: DeliveryChange) => Promise<boolean>;
  /** Removes a receiver that no longer exists. */
  readonly gone: (reason: string) => Promise<void>;
}

export class DeliveryRound {
  readonly #parts: DeliveryRoundParts;
  readonly #receiver: Receiver;
  readonly #ended: Promise<void>;
  #end: () => void = () => undefined;
  #stopped = false;
  /** True if another hub has the receiver, or the receiver was removed: save nothing more. */
  #lost = false;
  #until: number | undefined;
  #forgetting: Promise<void> = Promise.resolve();
  #head: Pick<QueueHead, 'batch' | 'tries' | 'due'>;
  /** Numbers of events that still wait, and of finished events that are not yet saved. */
  readonly #left: number[];
  #done: number[] = [];
  /** True if the last request was accepted quickly. Undefined before the first request. */
  #quick: boolean | undefined;

  constructor(parts: DeliveryRoundParts) {
    const { receiver, to, waiting, items, notifier, clock, log, gone } = parts;
    const { key, held, tries, due } = receiver;
    this.#parts = parts;
    this.#left = waiting.map(({ seq }) => seq);
    const batch = this.#left.filter((seq) => seq < held).length;
    // If a fast clock set the time, the receiver must still wait no longer than its delay, even if it is claimed again
    // meanwhile.
    const latest = Math.round(clock.now() + (to.delay || AGAIN));
    this.#head = {
      batch,
      tries: batch === 0 ? 0 : tries,
      ...(due === undefined ? {} : { due: Math.min(due, latest) }),
    };
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const begun = clock.monotonic();
    const notifications = new Map(items.map(({ id, notification }) => [id, notification]));
    this.#receiver = new Receiver(key, {
      clock: {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        // The receiver waits in the database, where all hubs see it, and not in this process.
        after: (delay) => {
          this.#until = Math.round(clock.now() + delay);
          this.#end();
          return () => undefined;
        },
      },
      log,
      load: (id) => notifications.get(id),
      committed: () => this.#commit(),
      batch: (destination, some) => notifier.batch(key, destination, some),
      send: (request) => this.#send(request),
      destination: () => to,
      running: () => {
        const isOver = this.#quick !== undefined && clock.monotonic() - begun > LONGEST;
        if (isOver) this.#end();
        return !this.#stopped && !isOver;
      },
      gone: (reason) => {
        this.#lost = true;
        this.#receiver.stop();
        this.#forgetting = gone(reason);
        this.#end();
      },
      idle: () => this.#end(),
    });
  }

  /** True if, at the time of the claim, the receiver had accepted its last request at once. */
  get proven(): boolean {
    return this.#parts.receiver.proven;
  }

  /**
   * Resolves when the receiver has to wait or has no waiting events. Rejects if a removed receiver cannot be erased.
   */
  async run(): Promise<void> {
    if (this.#parts.receiver.callback?.status === 'Paused') return;
    this.#receiver.recall(this.#memory());
    this.#receiver.poke();
    await this.#ended;
    await this.#forgetting;
  }

  /** Releases the receiver and saves the outcome. Rejects with `store.failed`: the claim then expires. */
  async release(): Promise<void> {
    if (this.#lost) return;
    const { receiver, clock, measures } = this.#parts;
    const isOwn = await this.#parts.save({
      ...this.#change(),
      released: {
        proven: this.#quick ?? receiver.proven,
        now: Math.round(clock.now()),
        ...defined({ until: this.#until }),
        resting: receiver.callback?.status === 'Paused',
        seen: receiver.next,
      },
    });
    if (isOwn) measures.gaveUp(this.#receiver.losses);
  }

  /** Stops sending. Unfinished requests are repeated later. */
  stop(): void {
    this.#stopped = true;
    this.#receiver.stop();
    this.#end();
  }

  /** Returns the persisted queue in the form that the car's code reads. */
  #memory(): Parameters<Receiver['recall']>[0] {
    const { receiver, waiting } = this.#parts;
    const { key } = receiver;
    const [first] = this.#left;
    const last = this.#left.at(-1);
    const next = last === undefined ? 0 : last + 1;
    const losses = { dropped: 0, refused: 0, expired: 0, damaged: 0 };
    const kept = new Map<string, unknown>([
      [keyOf(key), { first: first ?? next, next, ...this.#head, losses } satisfies QueueHead],
    ]);
    let item = 0;
    for (const { seq, at, about } of waiting) {
      const id = about === undefined ? `unreadable-${seq}` : (this.#parts.items[item++]?.id ?? '');
      kept.set(entryKeyOf(key, seq), { id, at });
    }
    return { recall: (name) => kept.get(name) };
  }

  /** Returns the changes to the queue. */
  #change(): DeliveryChange {
    const { receiver, lasts } = this.#parts;
    const { key, lease } = receiver;
    for (const [name, value] of this.#receiver.states(true)) {
      if (name === keyOf(key)) this.#head = value as QueueHead;
      else if (value === undefined) this.#take(Number(name.slice(keyOf(key).length + 1)));
    }
    const { batch, tries, due } = this.#head;
    const held = batch === 0 ? 0 : (this.#left[batch - 1] ?? -1) + 1;
    return { key, lease, held, tries, ...defined({ due }), done: this.#done, lasts };
  }

  #take(seq: number): void {
    this.#left.splice(this.#left.indexOf(seq), 1);
    this.#done.push(seq);
  }

  async #commit(): Promise<void> {
    const change = this.#change();
    this.#lost ||= !(await this.#parts.save(change));
    if (!this.#lost) {
      this.#done = [];
      return;
    }
    this.#receiver.stop();
    this.#end();
    throw new VigieError('store.failed', 'another hub sends to this receiver');
  }

  async #send(request: RequestBatch): Promise<Receipt> {
    const { clock, measures } = this.#parts;
    const begun = clock.monotonic();
    const receipt = await request
      .send()
      .catch((error: Error): Receipt => ({ outcome: 'failed', reason: error.message }));
    this.#quick = receipt.outcome === 'delivered' && clock.monotonic() - begun < QUICK;
    if (!this.#stopped) measures.sent(receipt, request.count);
    return receipt;
  }
}
