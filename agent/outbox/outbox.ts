import { encodeMessage } from '../../protocol/cbor/message.ts';
import { classOf } from '../../protocol/classes.ts';
import { defined } from '../../protocol/defined.ts';
import { factOf, VigieError } from '../../protocol/errors.ts';
import type { HelloNumbers } from '../../protocol/schema/hello.ts';
import { type Body, type BodyKind, type Message, PROTOCOL_VERSION } from '../../protocol/schema/message.ts';
import type { Clock, Link, Log, Memory, OutboxEntry, OutboxStore, Publisher, PutOptions } from '../ports.ts';
import { addressed } from './address.ts';
import { Gaps } from './gaps.ts';
import { findLost, readGaps, recallGaps } from './lost.ts';
import type { OutboxOptions } from './outbox-options.ts';
import { type Queued, SendQueue, type Taken, type Uncommitted } from './queue.ts';
import { Repetition } from './repetition.ts';
import { sentNumbers } from './sent-numbers.ts';

/** Delay in ms of the commit shared by messages that need not be on disk before the next step. */
const GROUP = 100;
/** Delay in ms before the next attempt on a disk that refused a write. */
const RETRY = 5_000;
/** Share of the limit that remains in use after an eviction, so that the next eviction is not needed at once. */
const ROOM = 0.95;

/**
 * Assigns a number to every message, stores it until the broker has acknowledged it, and sends by priority. A message
 * is sent only after it is on disk: no receiver sees a number that could become free again in a power cut. Every number
 * ends in one of two ways: the broker acknowledges its message, or acknowledges a gap message that reports it.
 */
export class Outbox implements Publisher {
  readonly #store: OutboxStore;
  readonly #link: Link;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #options: OutboxOptions;
  readonly #queue = new SendQueue();
  readonly #gaps = new Gaps();
  /** Number of messages in flight, and messages that must be read from the disk again later. */
  #inFlight = 0;
  #unread: Taken[] = [];
  /** Messages that the broker refused, in the order in which they are sent again. */
  #refused: Taken[] = [];
  #refusals = 0;
  #uncommitted: Uncommitted[] = [];
  #committing = 0;
  #group: (() => void) | undefined;
  #retry: (() => void) | undefined;
  #idle: (() => void)[] = [];
  /** True if a gap message could not be created or was refused: the next one is created later, not at once. */
  #gapsLater = false;
  #closed = false;
  /** Acknowledged messages that are sent again, after all waiting messages. */
  readonly repetition: Repetition;
  /** Number of messages created since the start: states of commands, and all others. */
  readonly made = { remote: 0, other: 0 };
  /** First number of each class in this run. */
  readonly #first = new Map<number, number>();
  /** Number of the newest message of each kind that the broker shall retain. */
  readonly #retained = new Map<string, number>();

  /** Without `memory` (a store without persistence), the lost numbers are known only during this run. */
  constructor(store: OutboxStore, link: Link, clock: Clock, log: Log, options: OutboxOptions, memory?: Memory) {
    this.#store = store;
    this.#link = link;
    this.#clock = clock;
    this.#log = log;
    this.#options = options;
    if (memory !== undefined) recallGaps(memory, store, this.#gaps, log);
    readGaps(store, this.#gaps, log);
    for (const entry of [...store.entries()]) {
      // The power failed before the entry could be removed.
      if (this.#gaps.has(entry)) {
        store.giveUp(entry.class, entry.seq);
        continue;
      }
      if (entry.retain) this.#retained.set(entry.kind, entry.seq);
      if (entry.kind === 'gap') this.#queue.hold(entry);
      else this.#queue.push(entry);
    }
    this.repetition = new Repetition({
      store,
      link,
      clock,
      log,
      room: () => (this.#queue.size > 0 ? 0 : this.#options.window() - this.#inFlight),
      publish: (entry) => this.#send(entry),
      sent: () => this.#drain(),
      gone: (numbers) => {
        this.#gaps.lose(numbers);
        this.#commitSoon();
        this.#drain();
      },
    });
    if (findLost(store, this.#gaps, log)) this.#commitSoon();
  }

  /** Number of messages that are queued or in flight, and of gap messages still to be created. */
  get waiting(): number {
    const aside = this.#unread.length + this.#refused.length + this.#committing;
    return this.#queue.size + this.#inFlight + aside + this.#uncommitted.length + this.#gaps.unreported;
  }

  /** Numbers sent so far, by class. */
  get sent(): HelloNumbers[] {
    return sentNumbers(this.#store, this.#first);
  }

  put<K extends BodyKind>(kind: K, body: Body<K>, options: PutOptions = {}): void {
    if (this.#closed) return;
    try {
      this.#append(kind, body, options);
    } catch (error) {
      // No number was used, so no receiver misses one. A fault in one message must not stop the processing of frames.
      this.#log.error('outbox.unencodable', { kind, error: (error as Error).message });
      return;
    }
    this.#commitSoon();
  }

  async secure<K extends BodyKind>(kind: K, body: Body<K>, options: PutOptions = {}): Promise<void> {
    if (this.#closed) throw new VigieError('store.failed', 'the agent is stopping: nothing is recorded any more');
    this.#append(kind, body, options);
    if (this.#store.volatile === true) this.#release();
    else await this.#commit();
  }

  /** Schedules a commit that is shared by messages which need not be on disk before the next step. */
  #commitSoon(): void {
    if (this.#store.volatile === true) this.#release();
    else this.#group ??= this.#clock.after(GROUP, () => this.#commitQuietly());
  }

  /** Commits changes of state and records without waiting for a message, in the commits of which they otherwise are. */
  checkpoint(): void {
    if (this.#closed || this.#store.volatile === true) return;
    this.#group ??= this.#clock.after(GROUP, () => this.#commitQuietly());
  }

  /** Call when the broker is connected. Sends waiting messages, a prioritised Status first. */
  linkUp(): void {
    this.#gapsLater = false;
    this.#askAgain(this.#refused.length);
    if (this.#uncommitted.length > 0) this.#commitQuietly();
    else this.#drain();
  }

  /** Stops sending and writing; cancels all timers. */
  close(): void {
    this.#closed = true;
    this.repetition.stop();
    this.#group?.();
    this.#group = undefined;
    this.#retry?.();
    this.#retry = undefined;
  }

  /** Resolves when no message is queued or in flight, or the link is down. */
  async settled(): Promise<void> {
    if (this.#uncommitted.length > 0) await this.#commit();
    if (this.waiting === 0 || !this.#link.connected) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Assigns a number to the message and returns it. */
  #append<K extends BodyKind>(kind: K, body: Body<K>, options: PutOptions): number {
    const priority = classOf(kind);
    const seq = this.#store.nextSeq(priority);
    const at = Math.round(this.#clock.now());
    const { boot, quality } = this.#options;
    const first = this.#first.get(priority) ?? seq;
    this.#first.set(priority, first);
    const message = { version: PROTOCOL_VERSION, kind, seq, boot, at, clock: quality(), body, offset: seq - first };
    const payload = encodeMessage(message, this.#options.deflate);
    const entry: OutboxEntry = {
      class: priority,
      seq,
      kind,
      at,
      retain: options.retain === true,
      payload,
      ...defined({ correlation: options.correlation }),
    };
    if (entry.retain) this.#retained.set(kind, seq);
    this.#store.append(entry);
    this.made[kind === 'remote' ? 'remote' : 'other']++;
    this.#options.numbered?.(message as Message);
    const place = options.first === true ? 'first' : kind === 'gap' ? 'held' : 'line';
    this.#uncommitted.push({ queued: { class: priority, seq }, place, durable: options.durable === true });
    // A gap message evicts nothing: each eviction would need another gap message.
    if (kind !== 'gap' && this.#store.bytes > this.#options.limit) this.#evict();
    return seq;
  }

  async #commit(): Promise<void> {
    this.#group?.();
    this.#group = undefined;
    let covered = this.#uncommitted.splice(0);
    const { length } = covered;
    this.#committing += length;
    try {
      await this.#store.commit();
    } catch (error) {
      // A failing disk must not stop the service: messages in memory are sent while possible.
      this.#log.error('outbox.inMemory', { error: (error as Error).message });
      for (const { queued, durable } of covered) if (durable) this.#withdraw(queued);
      covered = covered.filter(({ durable }) => !durable);
      if (!this.#closed) this.#group ??= this.#clock.after(RETRY, () => this.#commitQuietly());
      throw error;
    } finally {
      this.#committing -= length;
      this.#release(covered);
    }
  }

  /** Abandons a durable message that the disk refused: it must not be sent before it is on disk. */
  #withdraw({ class: priority, seq }: Queued): void {
    const reference = this.#store.reference(priority, seq);
    if (reference === undefined) return;
    this.#gaps.note(reference);
    this.#store.giveUp(priority, seq);
  }

  #commitQuietly(): void {
    // #commit logs its own failures and sets the next attempt.
    this.#commit().catch(() => undefined);
  }

  #release(covered = this.#uncommitted): void {
    if (covered === this.#uncommitted) this.#uncommitted = [];
    for (const { queued, place } of covered) {
      if (place === 'first') this.#queue.pushFirst(queued);
      else if (place === 'held') this.#queue.hold(queued);
      else this.#queue.push(queued);
    }
    this.#drain();
  }

  #drain(): void {
    this.#reportGaps();
    const window = this.#options.window();
    while (
      !this.#closed &&
      this.#link.connected &&
      this.#inFlight + this.repetition.underway < window &&
      this.#refusals < 2 * halfOf(window)
    ) {
      const queued = this.#queue.take();
      if (queued === undefined) break;
      const entry = this.#load(queued);
      if (entry === undefined) continue;
      this.#inFlight++;
      this.#send(entry).then(
        () => this.#acknowledged(queued),
        (error: unknown) => this.#failed(queued, error),
      );
    }
    this.repetition.send();
    if (this.waiting === 0 || !this.#link.connected) this.#tellIdle();
  }

  /** Returns the contents of the message, or undefined if it cannot be sent now, or ever. */
  #load(queued: Taken): OutboxEntry | undefined {
    const { class: priority, seq } = queued;
    try {
      const entry = this.#store.load(priority, seq);
      if (entry === undefined) {
        this.#inFlight++;
        this.#giveUp(queued, 'outbox.damaged');
      }
      return entry;
    } catch (error) {
      this.#log.error('outbox.unreadable', { class: priority, seq, error: (error as Error).message });
      this.#unread.push(queued);
      this.#drainLater();
      return undefined;
    }
  }

  /** Schedules another read of messages that could not be read, and another publication of refused messages. */
  #drainLater(): void {
    if (this.#closed) return;
    this.#retry ??= this.#clock.after(RETRY, () => {
      this.#retry = undefined;
      this.#gapsLater = false;
      for (const queued of this.#unread.splice(0)) this.#queue.restore(queued);
      this.#askAgain(this.#refusals === 0 ? this.#refused.length : halfOf(this.#options.window()));
      this.#drain();
      if (this.#refused.length > 0) this.#drainLater();
    });
  }

  /** Puts `count` of the refused messages back into the queue. */
  #askAgain(count: number): void {
    this.#refusals = 0;
    for (const queued of this.#refused.splice(0, count)) this.#queue.restore(queued);
  }

  #send(entry: OutboxEntry): Promise<void> {
    // An older message that is sent again must not replace the newer retained message at the broker.
    const newest = this.#retained.get(entry.kind) === entry.seq;
    return this.#link.publish(addressed(entry, this.#options.vin, newest));
  }

  #acknowledged({ class: priority, seq }: Queued): void {
    this.#inFlight--;
    this.#store.acknowledge(priority, seq);
    const known = this.#gaps.arrived(priority, seq);
    if (known?.numbers !== undefined) this.#store.gapKnown({ class: known.class, numbers: known.numbers });
    this.#drain();
  }

  #failed(queued: Queued, error: unknown): void {
    const retriable = !(error instanceof VigieError) || factOf(error.code).retriable;
    if (!retriable) {
      this.#giveUp(queued, 'outbox.unsendable', error as Error);
      return;
    }
    this.#inFlight--;
    // The broker may have the message. If it were evicted, a gap message would report a number that is not lost.
    if (!this.#link.connected) {
      // linkUp is called after reconnection.
      this.#queue.hold(queued);
      this.#tellIdle();
      return;
    }
    // If the broker refuses a message but stays connected, send it later and others meanwhile. At most half of the
    // messages refused in that time had been refused before, so that every message is tried.
    this.#refusals++;
    this.#refused.push({ class: queued.class, seq: queued.seq, held: true });
    this.#drainLater();
    this.#drain();
  }

  /** Removes a message that can never be sent, as soon as the report of its loss is on disk. */
  #giveUp(queued: Queued, event: 'outbox.damaged' | 'outbox.unsendable', error?: Error): void {
    const { class: priority, seq } = queued;
    const reference = this.#store.reference(priority, seq);
    if (reference !== undefined) {
      const { kind } = reference;
      this.#log.error(event, { kind, class: priority, seq, error: error?.message });
      if (kind === 'gap') this.#reportGapsLater();
      this.#gaps.note(reference);
    }
    const forget = () => {
      this.#inFlight--;
      this.#store.giveUp(priority, seq);
      this.#drain();
    };
    const noted = this.#store.volatile === true ? Promise.resolve() : this.#commit();
    // Even if the write was refused, which was logged: a message that cannot be sent must not remain.
    noted.then(forget, forget);
  }

  #tellIdle(): void {
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }

  /**
   * Drops the least important messages to free space. The loss is on disk in the commit of the message that needed the
   * space.
   */
  #evict(): void {
    const dropped: Record<string, number> = {};
    while (this.#store.bytes > this.#options.limit * ROOM) {
      const queued = this.#queue.evict();
      if (queued === undefined) break;
      const reference = this.#store.reference(queued.class, queued.seq);
      if (reference === undefined) continue;
      const { kind } = reference;
      this.#gaps.note(reference);
      this.#store.giveUp(queued.class, queued.seq);
      dropped[kind] = (dropped[kind] ?? 0) + 1;
    }
    if (Object.keys(dropped).length === 0) return;
    this.#log.warn('outbox.full', { dropped });
  }

  /**
   * Queues a gap message for each kind that has lost messages. While one is queued, no other is: however
   * long the car is offline and however many messages are abandoned, gap messages use no space that others need.
   */
  #reportGaps(): void {
    if (this.#closed || !this.#link.connected || this.#gapsLater || this.#gaps.underway > 0) return;
    const gaps = this.#gaps.take();
    if (gaps.length === 0) return;
    for (const gap of gaps) {
      try {
        this.#gaps.report(this.#append('gap', gap, {}), gap);
      } catch (error) {
        this.#log.error('outbox.gapUnsent', { lost: gap.lost, error: (error as Error).message });
        this.#gaps.add(gap);
        this.#reportGapsLater();
      }
    }
    this.#commitSoon();
  }

  /** Delays the next gap message: otherwise a broker that refuses every message would cause endless reports. */
  #reportGapsLater(): void {
    this.#gapsLater = true;
    this.#drainLater();
  }
}

function halfOf(window: number): number {
  return Math.ceil(window / 2);
}
