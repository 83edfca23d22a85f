import { encodeMessage } from '../../protocol/cbor/message.ts';
import { classOf, expiryOf } from '../../protocol/classes.ts';
import { factOf, VigieError } from '../../protocol/errors.ts';
import {
  type Body,
  type BodyKind,
  type ClockQuality,
  type Kind,
  PROTOCOL_VERSION,
} from '../../protocol/schema/message.ts';
import { upTopic } from '../../protocol/topics.ts';
import type { Clock, Link, Log, OutboxEntry, OutboxStore, Publisher, PutOptions } from '../ports.ts';
import { SendQueue } from './queue.ts';

/** Messages that need not be on disk before the next step share one commit, ms. */
const GROUP = 100;
/** A disk that refused is tried again after this, ms. */
const RETRY = 5_000;
/** Eviction makes room down to this share of the limit, so that it is not needed again at once. */
const ROOM = 0.95;

export interface OutboxOptions {
  readonly vin: string;
  readonly boot: number;
  /** How the wall clock is known at this moment. */
  readonly quality: () => ClockQuality;
  /** Messages on their way at the same time. */
  readonly window: () => number;
  /** Bytes of payload kept while the broker is away. */
  readonly limit: number;
}

/**
 * Gives every message its number, keeps it until the broker has acknowledged it, and sends by priority. A message
 * goes out only after it is on disk: a number that a power cut could make free again is never seen by a receiver.
 */
export class Outbox implements Publisher {
  readonly #store: OutboxStore;
  readonly #link: Link;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #options: OutboxOptions;
  readonly #queue = new SendQueue();
  readonly #inFlight = new Set<OutboxEntry>();
  #uncommitted: { entry: OutboxEntry; first: boolean }[] = [];
  #group: (() => void) | undefined;
  #idle: (() => void)[] = [];
  #evicting = false;
  #closed = false;
  /** By kind: the number of the newest message that the broker shall keep. */
  readonly #retained = new Map<string, number>();

  constructor(store: OutboxStore, link: Link, clock: Clock, log: Log, options: OutboxOptions) {
    this.#store = store;
    this.#link = link;
    this.#clock = clock;
    this.#log = log;
    this.#options = options;
    for (const entry of store.entries()) {
      if (entry.retain) this.#retained.set(entry.kind, entry.seq);
      this.#queue.push(entry);
    }
  }

  /** Messages that wait or are on their way. */
  get waiting(): number {
    return this.#queue.size + this.#inFlight.size + this.#uncommitted.length;
  }

  put<K extends BodyKind>(kind: K, body: Body<K>, options: PutOptions = {}): void {
    if (this.#closed) return;
    try {
      this.#append(kind, body, options);
    } catch (error) {
      // No number was used, so no receiver misses it; a fault in one message must not stop the frames behind it.
      this.#log.error('a message could not be made', { kind, error: (error as Error).message });
      return;
    }
    if (this.#store.volatile === true) this.#release();
    else this.#group ??= this.#clock.after(GROUP, () => this.#commitQuietly());
  }

  async secure<K extends BodyKind>(kind: K, body: Body<K>, options: PutOptions = {}): Promise<void> {
    if (this.#closed) throw new VigieError('store.failed', 'the agent is stopping: nothing is recorded any more');
    this.#append(kind, body, options);
    if (this.#store.volatile === true) this.#release();
    else await this.#commit();
  }

  /** The broker can be reached: what waits goes out, a Status that was put first before all else. */
  linkUp(): void {
    if (this.#uncommitted.length > 0) this.#commitQuietly();
    else this.#drain();
  }

  /** Sends and writes no more; no timer is left. */
  close(): void {
    this.#closed = true;
    this.#group?.();
    this.#group = undefined;
  }

  /** Resolves when nothing waits any more, or the link is down. */
  async settled(): Promise<void> {
    if (this.#uncommitted.length > 0) await this.#commit();
    if (this.waiting === 0 || !this.#link.connected) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #append<K extends BodyKind>(kind: K, body: Body<K>, options: PutOptions): void {
    const priority = classOf(kind);
    const seq = this.#store.nextSeq(priority);
    const at = Math.round(this.#clock.now());
    const { boot, quality } = this.#options;
    const payload = encodeMessage({ version: PROTOCOL_VERSION, kind, seq, boot, at, clock: quality(), body });
    const entry: OutboxEntry = {
      class: priority,
      seq,
      kind,
      at,
      retain: options.retain === true,
      payload,
      ...(options.correlation === undefined ? {} : { correlation: options.correlation }),
    };
    if (entry.retain) this.#retained.set(kind, seq);
    this.#store.append(entry);
    this.#uncommitted.push({ entry, first: options.first === true });
    if (this.#store.bytes > this.#options.limit) this.#evict();
  }

  async #commit(): Promise<void> {
    this.#group?.();
    this.#group = undefined;
    const covered = this.#uncommitted;
    this.#uncommitted = [];
    try {
      await this.#store.commit();
    } catch (error) {
      // A disk that refuses stops recording, not the car's service: what is in memory goes out while it can.
      this.#log.error('the disk refused the outbox; messages are kept in memory and sent', {
        error: (error as Error).message,
      });
      if (!this.#closed) this.#group ??= this.#clock.after(RETRY, () => this.#commitQuietly());
      throw error;
    } finally {
      this.#release(covered);
    }
  }

  #commitQuietly(): void {
    this.#group = undefined;
    // The failure was logged and the next attempt is set where it happened.
    this.#commit().catch(() => undefined);
  }

  #release(covered = this.#uncommitted): void {
    if (covered === this.#uncommitted) this.#uncommitted = [];
    for (const { entry, first } of covered) {
      if (first) this.#queue.pushFirst(entry);
      else this.#queue.push(entry);
    }
    this.#drain();
  }

  #drain(): void {
    while (!this.#closed && this.#link.connected && this.#inFlight.size < this.#options.window()) {
      const entry = this.#queue.take();
      if (entry === undefined) break;
      this.#inFlight.add(entry);
      this.#send(entry).then(
        () => this.#acknowledged(entry),
        (error: unknown) => this.#failed(entry, error),
      );
    }
    if (this.waiting === 0 || !this.#link.connected) this.#tellIdle();
  }

  #send(entry: OutboxEntry): Promise<void> {
    const expiry = expiryOf(entry.class);
    return this.#link.publish({
      topic: upTopic(this.#options.vin, entry.kind as Kind),
      payload: entry.payload,
      // An older one that is sent again must not take the newer one's place at the broker.
      retain: entry.retain && this.#retained.get(entry.kind) === entry.seq,
      ...(expiry === undefined ? {} : { expiry }),
      ...(entry.correlation === undefined ? {} : { correlation: entry.correlation }),
    });
  }

  #acknowledged(entry: OutboxEntry): void {
    this.#inFlight.delete(entry);
    this.#store.acknowledge(entry.class, entry.seq);
    this.#drain();
  }

  #failed(entry: OutboxEntry, error: unknown): void {
    this.#inFlight.delete(entry);
    const retriable = !(error instanceof VigieError) || factOf(error.code).retriable;
    if (!retriable) {
      this.#log.error('a message that can never be sent was dropped', {
        kind: entry.kind,
        seq: entry.seq,
        error: (error as Error).message,
      });
      this.#store.acknowledge(entry.class, entry.seq);
      this.#drain();
    } else {
      this.#queue.restore([entry]);
      // A broker that refuses without closing is asked again later; a lost link calls linkUp when it is back.
      if (this.#link.connected) this.#clock.after(RETRY, () => this.#drain());
    }
    if (!this.#link.connected) this.#tellIdle();
  }

  #tellIdle(): void {
    const told = this.#idle;
    this.#idle = [];
    for (const resolve of told) resolve();
  }

  /** Makes room by dropping what matters least, and says so with a gap record. */
  #evict(): void {
    if (this.#evicting) return;
    const lost = new Map<Kind, { class: number; count: number; bytes: number; from: number; to: number }>();
    while (this.#store.bytes > this.#options.limit * ROOM) {
      const entry = this.#queue.evict();
      if (entry === undefined) break;
      const kind = entry.kind as Kind;
      const gap = lost.get(kind) ?? { class: entry.class, count: 0, bytes: 0, from: entry.at, to: entry.at };
      gap.count++;
      gap.bytes += entry.payload.byteLength;
      gap.from = Math.min(gap.from, entry.at);
      gap.to = Math.max(gap.to, entry.at);
      lost.set(kind, gap);
      this.#store.acknowledge(entry.class, entry.seq);
    }
    this.#evicting = true;
    try {
      for (const [kind, gap] of lost) {
        this.#log.warn('the outbox is full: the oldest messages of the lowest class were dropped', { kind, ...gap });
        this.put('gap', { lost: kind, ...gap });
      }
    } finally {
      this.#evicting = false;
    }
  }
}
