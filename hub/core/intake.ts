/** Receives messages from the broker. Messages that arrive together share one commit, and are acknowledged after it. */
import { VigieError } from '../../protocol/errors.ts';
import type { KeptDeliveries } from './deliveries.ts';
import type { HubMeasures } from './measures.ts';
import { type CarMessage, type RefusedMessage, readMessage, vinIn } from './message.ts';
import type { HubLog, MessageStore, Timer, WallClock } from './ports.ts';

/** Largest number of messages in one commit: the backlog of a car that was away must not delay other cars. */
const BATCH = 500;
/**
 * A commit costs hub and database about the same for one message as for fifty. While messages keep arriving, a commit
 * waits for more: at most `LOOKS` checks, `LOOK` ms apart.
 */
const LOOKS = 20;
const LOOK = 5;

const FORGOTTEN = 'was forgotten: `vigie hub add` registers it again';
const NOT_REGISTERED = 'is not registered here, or was removed: `vigie hub add` registers a car';

interface IntakeParts {
  readonly store: MessageStore;
  readonly clock: WallClock;
  readonly log: HubLog;
  readonly measures: HubMeasures;
  /** Calls `work` after all data that has already arrived was processed. */
  readonly soon: (work: () => void) => void;
  readonly after: Timer;
  /** Reports forgotten cars that sent messages, which the broker may retain. If omitted, such messages stay there. */
  readonly forgotten?: (vins: ReadonlySet<string>) => void;
  /** Reports that events wait for receivers. If omitted, this process sends no events. */
  readonly waiting?: () => void;
}

interface Waiting {
  readonly topic: string;
  readonly item: { readonly read: CarMessage } | { readonly refused: RefusedMessage };
  resolve(): void;
  reject(error: unknown): void;
}

export class Intake {
  readonly #parts: IntakeParts;
  #waiting: Waiting[] = [];
  #draining = false;
  /** Resolves when no message waits any more. */
  #drained: Promise<void> = Promise.resolve();

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the message is on disk: only then may it be acknowledged. Bytes that are not a message are stored
   * separately and acknowledged, otherwise the car would send them for ever. Messages of forgotten cars are
   * acknowledged too, but not stored. Rejects with `store.failed`: the car sends the message again. Rejects with
   * `request.forbidden` for a car that is not in the registry or was removed from it: the message is not stored.
   * @param retained the broker retained the message: the car may have sent it long ago
   */
  async accept(topic: string, payload: Uint8Array, retained = false): Promise<void> {
    // An empty payload clears a retained message (MQTT 5.0 §3.3.1.3).
    if (payload.byteLength === 0) return;
    const item = this.#read(topic, payload, retained);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ topic, item, resolve, reject });
      if (this.#draining) return;
      this.#draining = true;
      this.#drained = new Promise((done) => {
        this.#parts.soon(() => void this.#drain().then(done));
      });
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
      this.#parts.log.warn('hub.message.refused', { topic, reason: error.message });
      return { refused: { topic, reason: error.message, payload, received } };
    }
  }

  /** Never rejects, and neither do the functions it calls: the sender of each message receives the outcome. */
  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#commit(this.#waiting.splice(0, BATCH));
      await this.#gather();
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
    const { store, clock, log, measures } = this.#parts;
    const messages = batch.flatMap(({ item }) => ('read' in item ? [item.read] : []));
    const refused = batch.flatMap(({ item }) => ('refused' in item ? [item.refused] : []));
    const begun = clock.now();
    try {
      const {
        fresh,
        strangers,
        forgotten,
        conflicts = [],
        lives = [],
        deliveries,
      } = await store.save(messages, refused);
      const vinOf = ({ item }: Waiting): string => ('read' in item ? item.read.vin : vinIn(item.refused.topic));
      const dropped = batch.filter((one) => forgotten.has(vinOf(one))).length;
      measures.committed(messages.length, fresh, refused.length, clock.now() - begun, dropped);
      for (const life of lives) log.warn('hub.life.new', life);
      for (const { vin, class: priority, message } of conflicts) {
        log.warn('hub.number.conflict', { vin, class: priority, seq: message.seq, boot: message.boot });
      }
      for (const vin of forgotten) log.warn('hub.car.refused', { vin, reason: FORGOTTEN });
      if (forgotten.size > 0) this.#parts.forgotten?.(forgotten);
      for (const vin of strangers) log.warn('hub.car.refused', { vin, reason: NOT_REGISTERED });
      for (const one of batch) {
        const vin = vinOf(one);
        if (strangers.has(vin)) one.reject(new VigieError('request.forbidden', NOT_REGISTERED, { where: vin }));
        else one.resolve();
      }
      if (deliveries !== undefined) this.#tell(deliveries);
    } catch (error) {
      if (messages.length > 0 && store.refuses(error)) return this.#isolate(batch, error as Error);
      measures.commitFailed();
      log.error('hub.store.failed', { messages: batch.length, error: (error as Error).message });
      for (const { reject } of batch) reject(error);
    }
  }

  /** Counts and logs the outcome for the events of the commit. */
  #tell({ receivers, dropped, unreadable }: KeptDeliveries): void {
    const { log, measures, waiting } = this.#parts;
    for (const { receiver, count, total } of dropped) {
      measures.deliveries.gaveUp({ dropped: count });
      // Log one line for each power of two: a receiver that is away for days must not fill the log.
      if (Math.floor(Math.log2(total)) > Math.floor(Math.log2(total - count))) {
        log.warn('callbacks.dropped', { receiver, dropped: total });
      }
    }
    for (const one of unreadable) log.error('key' in one ? 'callbacks.unreadable' : 'callbacks.unconfigured', one);
    if (receivers > 0) waiting?.();
  }

  /** Finds the message that the database rejects, stores it as refused, and commits the others. */
  async #isolate(batch: readonly Waiting[], { message: reason }: Error): Promise<void> {
    const [one] = batch;
    if (batch.length > 1 || one === undefined || !('read' in one.item)) {
      const half = Math.ceil(batch.length / 2);
      await this.#commit(batch.slice(0, half));
      return this.#commit(batch.slice(half));
    }
    const { topic } = one;
    const { payload, received } = one.item.read;
    this.#parts.log.warn('hub.message.refused', { topic, reason });
    await this.#commit([{ ...one, item: { refused: { topic, reason, payload, received } } }]);
  }
}
