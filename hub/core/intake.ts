/** Receives messages from the broker. Messages that arrive together share one commit, and are acknowledged after it. */

import { VigieError } from '../../protocol/errors.ts';
import { reachesPowerOfTwo } from '../../protocol/powers-of-two.ts';
import { CarLimits } from './car-limits.ts';
import type { KeptDeliveries } from './deliveries.ts';
import { FairQueue, type QueuedItem } from './fair-queue.ts';
import { MAX_LIVES } from './lives.ts';
import type { HubMeasures } from './measures.ts';
import { type CarMessage, type RefusedMessage, readMessage, vinIn } from './message.ts';
import type { HubLog, MessageStore, Saved, Timer, WallClock } from './ports.ts';
import type { UnregisteredMessage, UnregisteredStore } from './unregistered.ts';

/** Largest number of messages in one commit: the backlog of a car that was away must not delay other cars. */
const BATCH = 500;
/** Largest size of their payloads in bytes, unless there is only one. */
const BATCH_BYTES = 8_388_608;
/** Number of messages of one car that may wait before the hub reports the car. They are stored all the same. */
const CAR_WAITING = 1_000;
/** Number of refused messages of one car that the hub logs. Further ones are logged at powers of two. */
const LOGGED_FAULTS = 100;
/**
 * A commit costs the hub and the database about the same for one message as for fifty. While messages keep arriving, a
 * commit therefore waits for more, for at most `LOOKS` checks that are `LOOK` ms apart.
 */
const LOOKS = 20;
const LOOK = 5;

const FORGOTTEN = 'was forgotten: `vigie hub add` registers it again';
const REMOVED = 'was removed: `vigie hub add` registers it again';
const NOT_REGISTERED = 'is not registered here: `vigie hub add` registers a car';

interface IntakeParts {
  readonly store: MessageStore;
  readonly clock: WallClock;
  readonly log: HubLog;
  readonly measures: HubMeasures;
  /** Calls `work` after all data that has already arrived has been processed. */
  readonly soon: (work: () => void) => void;
  readonly after: Timer;
  /** Reports forgotten cars whose messages the broker may retain. If omitted, the broker keeps such messages. */
  readonly forgotten?: (vins: ReadonlySet<string>) => void;
  /**
   * Keeps messages of cars that are not registered. If omitted, these messages are refused, and the broker must not
   * acknowledge them.
   */
  readonly unregistered?: Pick<UnregisteredStore, 'keep'>;
  /** Reports that events wait for receivers. If omitted, this process sends no events. */
  readonly waiting?: () => void;
}

interface Waiting extends QueuedItem {
  readonly topic: string;
  readonly item: { readonly read: CarMessage } | { readonly refused: RefusedMessage };
  readonly retained: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

export class Intake {
  readonly #parts: IntakeParts;
  readonly #limits: CarLimits;
  readonly #waiting = new FairQueue<Waiting>();
  /** Messages of one car each, among which the database rejects at least one. */
  readonly #suspected: (readonly Waiting[])[] = [];
  /** Cars whose messages were kept aside and are now being stored, each with its messages that arrived later. */
  readonly #registered = new Set<string>();
  readonly #held = new Map<string, Waiting[]>();
  /** Number of messages that were kept aside since the start. */
  #unregistered = 0;
  #draining = false;
  /** Resolves when no more messages are waiting. */
  #drained: Promise<void> = Promise.resolve();

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#limits = new CarLimits(parts.log);
    parts.measures.limited = this.#limits.counts;
  }

  /**
   * Resolves when the message is on disk: only then may it be acknowledged. Bytes that are not a message are stored
   * separately and acknowledged, otherwise the car would send them for ever. Messages of forgotten cars are
   * acknowledged too, but not stored. Rejects with `store.failed`: the car sends the message again. Rejects with
   * `request.forbidden`, without storing the message, if the car is not in the registry or was removed from it. With
   * `unregistered`, a message of a car that is not in the registry is kept aside instead, and one of a removed car is
   * acknowledged.
   * @param retained true if the broker retained the message: the car may have sent it long ago
   */
  async accept(topic: string, payload: Uint8Array, retained = false): Promise<void> {
    // An empty payload clears a retained message (MQTT 5.0 §3.3.1.3).
    if (payload.byteLength === 0) return;
    const item = this.#read(topic, payload, retained);
    const car = 'read' in item ? item.read.vin : vinIn(topic);
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.add({ car, bytes: payload.byteLength, topic, item, retained, resolve, reject });
      if (waiting > CAR_WAITING) this.#limits.exceeded(car, 'messages', 1);
      this.#begin();
    });
  }

  /** Stores messages that were kept aside and whose cars are now registered. */
  takeIn(vins: Iterable<string>): void {
    for (const vin of vins) this.#registered.add(vin);
    this.#begin();
  }

  #begin(): void {
    if (this.#draining) return;
    this.#draining = true;
    this.#drained = new Promise((done) => {
      this.#parts.soon(() => void this.#drain().then(done));
    });
  }

  /** Number of messages that wait for a commit. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves when all accepted messages are on disk or rejected. */
  async settled(): Promise<void> {
    while (this.#draining) await this.#drained;
  }

  #read(topic: string, payload: Uint8Array, retained: boolean): Waiting['item'] {
    const received = Math.round(this.#parts.clock.now());
    try {
      return { read: readMessage(topic, payload, received, retained) };
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      this.#logFault(topic, error.message);
      return { refused: { topic, reason: error.message, payload, received } };
    }
  }

  #logFault(topic: string, reason: string): void {
    const faults = this.#limits.fault(vinIn(topic));
    if (faults <= LOGGED_FAULTS) this.#parts.log.warn('hub.message.refused', { topic, reason });
    else this.#limits.exceeded(vinIn(topic), 'faults', 1);
  }

  /** Never rejects, and neither do the functions that it calls: the sender of each message receives the outcome. */
  async #drain(): Promise<void> {
    while (this.#waiting.length > 0 || this.#registered.size > 0 || this.#suspected.length > 0) {
      if (this.#waiting.length > 0) await this.#commit(this.#waiting.take({ items: BATCH, bytes: BATCH_BYTES }));
      const suspected = this.#suspected.shift();
      if (suspected !== undefined) {
        await this.#commit(suspected);
        continue;
      }
      // One car at a time, so that the backlog of these cars does not delay the others.
      const [vin] = this.#registered;
      if (vin === undefined) await this.#gather();
      else await this.#takeInSome(vin);
    }
    this.#draining = false;
  }

  /** Resolves when no message arrived since the last check, when there are enough for a commit, or after all checks. */
  async #gather(): Promise<void> {
    let before = 0;
    for (let looks = 0; looks < LOOKS; looks++) {
      const { length } = this.#waiting;
      if (length === before || length >= BATCH) return;
      before = length;
      await new Promise<void>((resolve) => this.#parts.after(LOOK, resolve));
    }
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    const { store, clock, measures } = this.#parts;
    const messages = batch.flatMap(({ item }) => ('read' in item ? [item.read] : []));
    const refused = batch.flatMap(({ item }) => ('refused' in item ? [item.refused] : []));
    const begun = clock.now();
    try {
      const saved = await store.save(messages, refused);
      const fates = sortByFate(batch, saved);
      const stored = fates.stored.filter(({ item }) => 'read' in item).length;
      measures.committed(stored, saved.fresh, fates.stored.length - stored, clock.now() - begun);
      this.#report(saved);
      for (const one of fates.stored) one.resolve();
      for (const one of fates.held) this.#hold(one);
      this.#refuse(fates.forgotten, 'forgotten', FORGOTTEN);
      this.#refuse(fates.removed, 'removed', REMOVED);
      if (fates.strangers.length > 0) await this.#putAside(fates.strangers);
    } catch (error) {
      if (messages.length > 0 && store.refuses(error)) return this.#isolate(batch, error as Error);
      this.#fail(batch, error as Error);
    }
  }

  /** Reports the contents of a commit. */
  #report({ forgotten, conflicts = [], lives = [], excess = [], unreadable = [], deliveries }: Saved): void {
    const { log } = this.#parts;
    for (const { vin, first, ordinal } of lives) {
      if (ordinal < MAX_LIVES) log.warn('hub.life.new', { vin, first });
      else this.#limits.exceeded(vin, 'lives', 1);
    }
    for (const { vin, runs, jumps } of excess) {
      this.#limits.exceeded(vin, 'runs', runs);
      this.#limits.exceeded(vin, 'jumps', jumps);
    }
    for (const { vin, class: priority, message } of conflicts) {
      log.warn('hub.number.conflict', { vin, class: priority, seq: message.seq, boot: message.boot });
    }
    for (const { vin, message } of unreadable) log.warn('hub.reading.unreadable', { vin, seq: message.seq });
    if (forgotten.size > 0) this.#parts.forgotten?.(forgotten);
    if (deliveries !== undefined) this.#tell(deliveries);
  }

  #fail(batch: readonly Waiting[], error: Error): void {
    const { measures, log } = this.#parts;
    measures.commitFailed();
    log.error('hub.store.failed', { messages: batch.length, error: error.message });
    for (const { reject } of batch) reject(error);
  }

  /**
   * Counts messages of forgotten or removed cars. They are never stored, but acknowledged, so that the broker does not
   * send them for ever. The embedded broker instead refuses the message of a removed car, and ends its connection.
   */
  #refuse(batch: readonly Waiting[], why: 'forgotten' | 'removed', reason: string): void {
    const { log, measures, unregistered } = this.#parts;
    measures.refusedCar(why, batch.length);
    for (const vin of new Set(batch.map(({ car }) => car))) log.warn('hub.car.refused', { vin, reason });
    for (const one of batch) {
      if (why === 'forgotten' || unregistered !== undefined) one.resolve();
      else one.reject(new VigieError('request.forbidden', reason, { where: one.car }));
    }
  }

  /** Keeps messages of cars that are not registered aside. With the embedded broker, the car keeps them itself. */
  async #putAside(batch: readonly Waiting[]): Promise<void> {
    const { log, measures, unregistered } = this.#parts;
    measures.refusedCar('unregistered', batch.length);
    if (unregistered === undefined) {
      for (const vin of new Set(batch.map(({ car }) => car)))
        log.warn('hub.car.refused', { vin, reason: NOT_REGISTERED });
      for (const one of batch) {
        one.reject(new VigieError('request.forbidden', NOT_REGISTERED, { where: one.car }));
      }
      return;
    }
    try {
      const { changed, dropped } = await unregistered.keep(batch.map(asUnregistered));
      measures.droppedUnregistered(dropped);
      const kept = batch.filter((one) => !changed.has(one.car));
      this.#tellUnregistered(kept);
      for (const one of kept) one.resolve();
      // The cars of these messages were registered, removed or forgotten meanwhile.
      this.#waiting.addFirst(batch.filter((one) => changed.has(one.car)));
    } catch (error) {
      this.#fail(batch, error as Error);
    }
  }

  /** Logs only when the count reaches a power of two, because anybody could invent cars. */
  #tellUnregistered(kept: readonly Waiting[]): void {
    const last = kept.at(-1);
    if (last === undefined) return;
    const before = this.#unregistered;
    this.#unregistered += kept.length;
    if (!reachesPowerOfTwo(before, this.#unregistered)) return;
    this.#parts.log.warn('hub.car.unregistered', { vin: last.car, messages: this.#unregistered });
  }

  /** Holds a message until the older messages of its car that were kept aside are stored. */
  #hold(one: Waiting): void {
    const vin = one.car;
    const held = this.#held.get(vin) ?? [];
    held.push(one);
    this.#held.set(vin, held);
    this.#registered.add(vin);
  }

  /** Stores some of a car's messages that were kept aside. Other cars then have their turn. */
  async #takeInSome(vin: string): Promise<void> {
    const { clock, measures, log } = this.#parts;
    this.#registered.delete(vin);
    const begun = clock.now();
    try {
      const { taken, refused, ...saved } = await this.#takeBatch(vin);
      if (taken > 0) {
        measures.committed(taken - refused, saved.fresh, refused, clock.now() - begun);
        this.#report(saved);
        log.info('hub.car.takenIn', { vin, messages: taken });
        this.#registered.add(vin);
        return;
      }
      this.#waiting.addFirst(this.#held.get(vin) ?? []);
      this.#held.delete(vin);
    } catch (error) {
      const held = this.#held.get(vin) ?? [];
      this.#held.delete(vin);
      this.#fail(held, error as Error);
    }
  }

  /** Takes in a batch. If the database rejects it, takes in only the oldest message, if necessary as refused. */
  async #takeBatch(vin: string): ReturnType<MessageStore['takeIn']> {
    const { store, clock, log } = this.#parts;
    const now = Math.round(clock.now());
    for (const limit of [BATCH, 1]) {
      try {
        return await store.takeIn(vin, { limit, now });
      } catch (error) {
        if (!store.refuses(error)) throw error;
        if (limit > 1) continue;
        const reason = (error as Error).message;
        log.warn('hub.message.refused', { topic: `vigie/1/${vin}/up`, reason });
        return store.takeIn(vin, { limit, now, reason });
      }
    }
    throw new Error('unreachable');
  }

  /** Counts and logs the consequences of the commit for deliveries of events. */
  #tell({ receivers, dropped, unreadable }: KeptDeliveries): void {
    const { log, measures, waiting } = this.#parts;
    for (const { receiver, count, total } of dropped) {
      measures.deliveries.gaveUp({ dropped: count });
      if (reachesPowerOfTwo(total - count, total)) {
        log.warn('callbacks.dropped', { receiver, dropped: total });
      }
    }
    for (const one of unreadable) log.error('key' in one ? 'callbacks.unreadable' : 'callbacks.unconfigured', one);
    if (receivers > 0) waiting?.();
  }

  /**
   * Finds the message that the database rejects, stores it as refused, and commits the others. Separates the cars first:
   * then, between two commits of all cars, only one commit searches among the messages of such a car.
   */
  async #isolate(batch: readonly Waiting[], { message: reason }: Error): Promise<void> {
    const [one] = batch;
    if (batch.length > 1 || one === undefined || !('read' in one.item)) {
      const cars = [...new Set(batch.map(({ car }) => car))];
      const half = new Set(cars.slice(0, cars.length >> 1));
      const isFirst = (other: Waiting, place: number): boolean =>
        cars.length > 1 ? half.has(other.car) : place < batch.length >> 1;
      const parts = [batch.filter(isFirst), batch.filter((other, place) => !isFirst(other, place))];
      if (cars.length === 1) this.#suspected.push(...parts);
      else for (const part of parts) await this.#commit(part);
      return;
    }
    const { topic } = one;
    const { payload, received } = one.item.read;
    this.#logFault(topic, reason);
    await this.#commit([{ ...one, item: { refused: { topic, reason, payload, received } } }]);
  }
}

type Fates = Readonly<Record<'stored' | 'strangers' | 'removed' | 'forgotten' | 'held', Waiting[]>>;

/** Sorts the messages of a commit by what happens to them. */
function sortByFate(batch: readonly Waiting[], { strangers, removed, forgotten, held }: Saved): Fates {
  const fates: Fates = { stored: [], strangers: [], removed: [], forgotten: [], held: [] };
  for (const one of batch) {
    const vin = one.car;
    if (forgotten.has(vin)) fates.forgotten.push(one);
    else if (removed.has(vin)) fates.removed.push(one);
    else if (strangers.has(vin)) fates.strangers.push(one);
    else if (held?.has(vin)) fates.held.push(one);
    else fates.stored.push(one);
  }
  return fates;
}

function asUnregistered({ car: vin, topic, item, retained }: Waiting): UnregisteredMessage {
  const { payload, received } = 'read' in item ? item.read : item.refused;
  return { vin, topic, payload, received, retained, ...('read' in item && { kind: item.read.message.kind }) };
}
