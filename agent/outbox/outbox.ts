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
import type { Clock, Link, Log, OutboxEntry, OutboxReference, OutboxStore, Publisher, PutOptions } from '../ports.ts';
import { type Queued, SendQueue } from './queue.ts';

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
  /** Messages on their way, and those that the disk is asked for again later. */
  #inFlight = 0;
  #unread: Queued[] = [];
  #uncommitted: { queued: Queued; first: boolean }[] = [];
  #group: (() => void) | undefined;
  #retry: (() => void) | undefined;
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
    return this.#queue.size + this.#inFlight + this.#unread.length + this.#uncommitted.length;
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

  /** Has what changed written down, also while no message is to be: state and records go with the same commit. */
  checkpoint(): void {
    if (this.#closed || this.#store.volatile === true) return;
    this.#group ??= this.#clock.after(GROUP, () => this.#commitQuietly());
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
    this.#retry?.();
    this.#retry = undefined;
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
    this.#uncommitted.push({ queued: { class: priority, seq }, first: options.first === true });
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
    for (const { queued, first } of covered) {
      if (first) this.#queue.pushFirst(queued);
      else this.#queue.push(queued);
    }
    this.#drain();
  }

  #drain(): void {
    while (!this.#closed && this.#link.connected && this.#inFlight < this.#options.window()) {
      const queued = this.#queue.take();
      if (queued === undefined) break;
      const entry = this.#load(queued);
      if (entry === undefined) continue;
      this.#inFlight++;
      this.#send(entry).then(
        () => this.#acknowledged(queued),
        (error: unknown) => this.#failed(queued, entry.kind, error),
      );
    }
    if (this.waiting === 0 || !this.#link.connected) this.#tellIdle();
  }

  /** What the message says; undefined when it cannot be sent now, or never. */
  #load(queued: Queued): OutboxEntry | undefined {
    try {
      const entry = this.#store.load(queued.class, queued.seq);
      if (entry === undefined) this.#lost(queued);
      return entry;
    } catch (error) {
      this.#log.error('the disk does not give a message; it is asked again', {
        ...queued,
        error: (error as Error).message,
      });
      this.#unread.push(queued);
      this.#drainLater();
      return undefined;
    }
  }

  /** After a while, asks again the disk for what it did not give and the broker to take what it refused. */
  #drainLater(): void {
    if (this.#closed) return;
    this.#retry ??= this.#clock.after(RETRY, () => {
      this.#retry = undefined;
      for (const queued of this.#unread.splice(0)) this.#queue.restore(queued);
      this.#drain();
    });
  }

  /** A message was damaged on the disk: the receiver is told what it misses. */
  #lost(queued: Queued): void {
    const reference = this.#store.reference(queued.class, queued.seq);
    // Evicted while the disk was asked for it again: that was told.
    if (reference === undefined) return;
    this.#store.acknowledge(queued.class, queued.seq);
    this.#tellGaps([reference], 'a message was damaged on the disk');
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

  #acknowledged({ class: priority, seq }: Queued): void {
    this.#inFlight--;
    this.#store.acknowledge(priority, seq);
    this.#drain();
  }

  #failed(queued: Queued, kind: string, error: unknown): void {
    this.#inFlight--;
    const retriable = !(error instanceof VigieError) || factOf(error.code).retriable;
    if (!retriable) {
      this.#log.error('a message that can never be sent was dropped', {
        kind,
        seq: queued.seq,
        error: (error as Error).message,
      });
      this.#store.acknowledge(queued.class, queued.seq);
      this.#drain();
    } else {
      this.#queue.restore(queued);
      // A broker that refuses without closing is asked again later; a lost link calls linkUp when it is back.
      if (this.#link.connected) this.#drainLater();
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
    const dropped: OutboxReference[] = [];
    while (this.#store.bytes > this.#options.limit * ROOM) {
      const queued = this.#queue.evict();
      if (queued === undefined) break;
      const reference = this.#store.reference(queued.class, queued.seq);
      if (reference === undefined) continue;
      dropped.push(reference);
      this.#store.acknowledge(queued.class, queued.seq);
    }
    this.#tellGaps(dropped, 'the outbox is full: the oldest messages of the lowest class were dropped');
  }

  /** Puts a gap record for each kind of which messages will never come. */
  #tellGaps(references: readonly OutboxReference[], why: string): void {
    const lost = new Map<Kind, { class: number; count: number; bytes: number; from: number; to: number }>();
    for (const { class: priority, at, bytes, ...reference } of references) {
      const kind = reference.kind as Kind;
      const gap = lost.get(kind) ?? { class: priority, count: 0, bytes: 0, from: at, to: at };
      gap.count++;
      gap.bytes += bytes;
      gap.from = Math.min(gap.from, at);
      gap.to = Math.max(gap.to, at);
      lost.set(kind, gap);
    }
    this.#evicting = true;
    try {
      for (const [kind, gap] of lost) {
        this.#log.warn(why, { kind, ...gap });
        this.put('gap', { lost: kind, ...gap });
      }
    } finally {
      this.#evicting = false;
    }
  }
}
