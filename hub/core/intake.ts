/** Takes messages from the broker. Those that arrive together share one commit; each is acknowledged after it. */
import { VigieError } from '../../protocol/errors.ts';
import type { KeptDeliveries } from './deliveries.ts';
import type { HubMeasures } from './measures.ts';
import { type CarMessage, type RefusedMessage, readMessage, vinIn } from './message.ts';
import type { HubLog, MessageStore, Timer, WallClock } from './ports.ts';

/** Messages of one commit: the backlog of a car that was away must not hold up the others. */
const BATCH = 500;
/**
 * While messages keep coming, a commit waits for more of them, since a commit costs hub and database much the same for one
 * message as for fifty: it looks so often whether more came, after so many ms each.
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
  /** Calls `work` when what has already arrived has been taken in. */
  readonly soon: (work: () => void) => void;
  readonly after: Timer;
  /** Cars that were forgotten have sent messages, which the broker may retain; absent: they stay there. */
  readonly forgotten?: (vins: ReadonlySet<string>) => void;
  /** Events wait for receivers; absent: this process sends no events. */
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
  /** Settles when nothing waits any more. */
  #drained: Promise<void> = Promise.resolve();

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the message is on disk: only then may it be acknowledged. Bytes that are not messages are kept aside and
   * acknowledged, or the car would send them for ever; so are messages of forgotten cars, of which nothing is kept. Rejects
   * with `store.failed`: the car sends it again. Rejects with `request.forbidden` for a car that is not in the registry or
   * was removed from it: nothing of the message is kept.
   * @param retained the broker had kept it: the car may have sent it long ago
   */
  async accept(topic: string, payload: Uint8Array, retained = false): Promise<void> {
    // Clears a retained message (MQTT 5.0 §3.3.1.3).
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

  /** Messages that wait for a commit. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves when everything that was accepted is on disk or was rejected. */
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

  /** Never rejects, like what it calls: the sender of each message learns what became of it. */
  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#commit(this.#waiting.splice(0, BATCH));
      await this.#gather();
    }
    this.#draining = false;
  }

  /** Resolves when no more messages came since the last look, when there are enough for a commit, or after all looks. */
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

  /** Outcomes of the events of the commit. */
  #tell({ receivers, dropped, unreadable }: KeptDeliveries): void {
    const { log, measures, waiting } = this.#parts;
    for (const { receiver, count, total } of dropped) {
      measures.deliveries.gaveUp({ dropped: count });
      // One line for each power of two: a receiver that is away for days must not fill the log.
      if (Math.floor(Math.log2(total)) > Math.floor(Math.log2(total - count))) {
        log.warn('callbacks.dropped', { receiver, dropped: total });
      }
    }
    for (const one of unreadable) log.error('key' in one ? 'callbacks.unreadable' : 'callbacks.unconfigured', one);
    if (receivers > 0) waiting?.();
  }

  /** The database does not take one of these messages: it is found and kept aside, the others are committed. */
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
