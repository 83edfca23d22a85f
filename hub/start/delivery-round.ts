/** The next request to one receiver that this hub has claimed: the queue of the car, filled from the database. */

import type { Destination } from '../../agent/callbacks/destination.ts';
import type { NotificationItem, Notifier, Receipt, RequestBatch } from '../../agent/callbacks/notifier.ts';
import { entryKeyOf, keyOf, type QueueHead } from '../../agent/callbacks/queue.ts';
import { AGAIN, Receiver } from '../../agent/callbacks/receiver.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { ClaimedReceiver, DeliveryChange, WaitingDelivery } from '../core/deliveries.ts';
import type { DeliveryMeasures } from '../core/delivery-measures.ts';

/** A receiver that answers faster is healthy, ms. */
const QUICK = 1_000;
/** After this others have their turn, ms. */
const LONGEST = 5_000;

interface DeliveryRoundParts {
  readonly receiver: ClaimedReceiver;
  readonly to: Destination;
  readonly waiting: readonly WaitingDelivery[];
  /** Those of {@link waiting} that can be read, in their order. */
  readonly items: readonly NotificationItem[];
  /** How long the claim lasts after each change, ms. */
  readonly lasts: number;
  readonly notifier: Pick<Notifier, 'batch'>;
  readonly measures: DeliveryMeasures;
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves with false when this hub no longer has the receiver. */
  readonly save: (change: DeliveryChange) => Promise<boolean>;
  /** The receiver does not exist any more: forgets it. */
  readonly gone: (reason: string) => Promise<void>;
}

export class DeliveryRound {
  readonly #parts: DeliveryRoundParts;
  readonly #receiver: Receiver;
  readonly #ended: Promise<void>;
  #end: () => void = () => undefined;
  #stopped = false;
  /** Another hub has the receiver, or it is gone: nothing more is written. */
  #lost = false;
  #until: number | undefined;
  #forgetting: Promise<void> = Promise.resolve();
  #head: Pick<QueueHead, 'batch' | 'tries' | 'due'>;
  /** Numbers of events that still wait, and of those that are done with and not yet saved. */
  readonly #left: number[];
  #done: number[] = [];
  /** Result of the last request for the receiver. Undefined before the first. */
  #quick: boolean | undefined;

  constructor(parts: DeliveryRoundParts) {
    const { receiver, to, waiting, items, notifier, clock, log, gone } = parts;
    const { key, held, tries, due } = receiver;
    this.#parts = parts;
    this.#left = waiting.map(({ seq }) => seq);
    const batch = this.#left.filter((seq) => seq < held).length;
    // A clock that was fast does not make it wait longer than its delay, however often it is claimed meanwhile.
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
        // Instead of waiting here it waits in the database, where every hub sees it.
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

  /** State at the time of the claim. */
  get proven(): boolean {
    return this.#parts.receiver.proven;
  }

  /** Resolves when the receiver has to wait, or nothing waits for it. Rejects when what is gone cannot be forgotten. */
  async run(): Promise<void> {
    if (this.#parts.receiver.callback?.status === 'Paused') return;
    this.#receiver.recall(this.#memory());
    this.#receiver.poke();
    await this.#ended;
    await this.#forgetting;
  }

  /** Returns the receiver with its outcome. Rejects with `store.failed`: then the claim expires. */
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

  /** Sends no more; what is on its way is tried again. */
  stop(): void {
    this.#stopped = true;
    this.#receiver.stop();
    this.#end();
  }

  /** Queue of the car. */
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

  /** Takes in what the queue has changed. */
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
