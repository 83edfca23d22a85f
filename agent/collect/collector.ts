import { DAY } from '../../protocol/calendar.ts';
import { decodeBody } from '../../protocol/command.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import type { CollectOrder, HelloCollect } from '../../protocol/schema/collect.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { Telemetry } from '../../protocol/schema/telemetry.ts';
import { catalogParts } from '../../protocol/signals/catalog.ts';
import type { Clock, FrameBatch, Log, Memory } from '../ports.ts';
import { PARTS, type RecorderParts } from '../recorders/recorder.ts';
import type { Records } from '../records.ts';
import type { AgentCommand } from '../remotes/agent-command.ts';
import { definitionOf, type SignalNumbers } from '../signals/numbers.ts';
import type { SignalRecorderOptions } from '../signals/recorder.ts';
import { PAUSED } from '../signals/signals.ts';
import { type PreparedCollection, RunningCollection } from './running-collection.ts';

/** Maximum concurrent collections, and maximum number of signals of all of them. */
const MOST_COLLECTIONS = 16;
const MOST_SIGNALS = 4_096;
/** Longest duration in ms of a collection after its command. Another command extends it. */
const LONGEST = 31 * DAY;
/** Size in bytes of a message without its columns. */
const ENVELOPE = 60;
/** Level of privacy that hides everything. */
const ALL = 2;

/** Keys of the stored state: commands, bytes collected today, and open readings of each collection. */
const COMMANDS = 'collections';
const TODAY = 'collections/day';
const keyOf = (name: string, part: number): string => `collections/${name}/${part}`;

export interface CollectorParts extends RecorderParts, Omit<SignalRecorderOptions, 'patience'> {
  readonly numbers: SignalNumbers;
  readonly memory: Pick<Memory, 'recall'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly quality: () => ClockQuality;
  readonly log: Log;
  /** Limit on all collections together, in bytes per day. */
  readonly bytesPerDay: number;
  /** Finds the signals of the command. Throws a VigieError with the reason if they cannot be collected. */
  readonly prepare: (order: CollectOrder) => PreparedCollection;
  /** Resolves when the present state is on disk. */
  readonly commit: () => Promise<void>;
  /** Notified of the running collections when they change or the byte limit is reached. */
  readonly changed: (running: readonly PreparedCollection[]) => void;
}

/** Amount collected on a day. */
interface Today {
  /** Whole days since 1970, UTC. */
  readonly day: number;
  readonly bytes: number;
}

/** A command in its stored form. */
interface Stored {
  readonly order: CollectOrder;
  readonly body: Uint8Array;
}

/**
 * Records signals for a limited time on command. The commands are stored, so that collections continue after a power
 * cut; each collection ends automatically.
 */
export class Collector {
  readonly #parts: CollectorParts;
  readonly #stored = new Map<string, Stored>();
  /** Persisted form of {@link #stored}: the same array until something changes. */
  #commands: readonly Uint8Array[] | undefined;
  readonly #running = new Map<string, RunningCollection>();
  /** Stored parts of collections that have ended. */
  #forgotten: string[] = [];
  #today: Today = { day: 0, bytes: 0 };
  /** UTC ms. */
  #boundReachedAt: number | undefined;
  readonly #highestPrivacy: () => number;
  #batchPrivacy = 0;

  constructor(parts: CollectorParts) {
    this.#parts = parts;
    this.#highestPrivacy = parts.highestPrivacy();
  }

  /** Restores the state that an earlier run stored. */
  resume(): void {
    const { memory, log } = this.#parts;
    this.#recallToday(memory.recall(TODAY));
    const bodies = memory.recall(COMMANDS);
    for (const body of Array.isArray(bodies) ? bodies : []) {
      try {
        const order = decodeBody('Collect', body as Uint8Array);
        this.#stored.set(order.name, { order, body: body as Uint8Array });
      } catch (error) {
        log.error('collect.unreadable', { error: (error as Error).message });
      }
    }
    for (const { order } of [...this.#stored.values()]) this.#resume(order);
    this.#store();
    this.#tell();
  }

  /** Carries out commands of kind `Collect`. */
  readonly order: AgentCommand = async (body, at) => {
    const order = decodeBody('Collect', body);
    const { name } = order;
    const before = this.#stored.get(name);
    if (order.signals.length === 0) {
      this.#stored.delete(name);
      await this.#secure(name, before);
      // Another command may have arrived meanwhile.
      if (!this.#stored.has(name)) this.#end(name, 'a command ended it');
      return;
    }
    checkUntil(order, at);
    if (before === undefined && this.#stored.size >= MOST_COLLECTIONS) {
      throw new VigieError('input.malformed', `${MOST_COLLECTIONS} collections are running; end one of them first`);
    }
    const prepared = this.#parts.prepare(order);
    this.#checkSize(name, prepared);
    const stored = { order, body };
    this.#stored.set(name, stored);
    await this.#secure(name, before);
    if (this.#stored.get(name) === stored) this.#begin(order, prepared);
  };

  /** Collects from a batch that was applied to Status. The batch may have started and ended a private period. */
  take(batch: FrameBatch, buses: readonly string[]): void {
    this.#batchPrivacy = this.#highestPrivacy();
    for (const collection of this.#running.values()) collection.take(batch, buses);
    this.#batchPrivacy = 0;
  }

  tick(now: number): void {
    const isKnown = this.#parts.quality() !== 'none';
    if (isKnown) this.#look(now);
    for (const [name, collection] of [...this.#running]) {
      if (isKnown && now >= collection.until) this.#end(name, 'its time is over');
      else collection.tick(now);
    }
  }

  flush(): void {
    for (const collection of this.#running.values()) collection.flush();
  }

  correct(by: number, latest: number): void {
    for (const collection of this.#running.values()) collection.correct(by, latest);
  }

  /** Returns the state that must survive a power cut. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    yield [COMMANDS, this.#commands];
    const { day, bytes } = this.#today;
    const isUnused = bytes === 0 && this.#boundReachedAt === undefined;
    yield [TODAY, isUnused ? undefined : [day, bytes, this.#boundReachedAt ?? 0]];
    for (const key of this.#forgotten) yield [key, undefined];
    this.#forgotten = [];
    for (const [name, collection] of this.#running) {
      for (const [key, value] of collection.parts()) yield [keyOf(name, key), value];
    }
  }

  /** Returns undefined if there is nothing to report. */
  hello(): HelloCollect | undefined {
    if (this.#running.size === 0 && this.#boundReachedAt === undefined) return undefined;
    return {
      running: [...this.#running].map(([name, { until, prepared }]) => {
        return { name, until, signals: prepared.signals.length };
      }),
      bytesToday: this.#today.bytes,
      ...defined({ boundReachedAt: this.#boundReachedAt }),
    };
  }

  #recallToday(state: unknown): void {
    if (!Array.isArray(state)) return;
    const [day, bytes, reachedAt] = state as readonly number[];
    this.#today = { day: Number(day), bytes: Number(bytes) };
    if (Number(reachedAt) > 0) this.#boundReachedAt = Number(reachedAt);
  }

  #resume(order: CollectOrder): void {
    const { memory, log, clock, quality } = this.#parts;
    const { name, until = 0 } = order;
    const gathered = Array.from({ length: PARTS }, (_, part) => memory.recall(keyOf(name, part)));
    const parts = gathered.filter((part) => part !== undefined);
    let why = 'its time is over';
    if (quality() === 'none' || clock.now() < until) {
      try {
        this.#begin(order, this.#parts.prepare(order), parts);
        return;
      } catch (error) {
        why = (error as Error).message;
        log.error('collect.lost', { name, error: why });
      }
    }
    // Readings are sent with the catalog that was valid when they were made.
    const catalog = { numbers: [], catalog: new Uint8Array(0), entries: [] };
    new RunningCollection(order, { signals: [], decoder: never }, catalog, this.#collectionParts()).restoreParts(parts);
    this.#drop(order);
    log.info('collect.ended', { name, why });
  }

  #begin(order: CollectOrder, prepared: PreparedCollection, gathered: readonly unknown[] = []): void {
    const { numbers, publisher, log } = this.#parts;
    const { name, until } = order;
    this.#close(name);
    const catalog = numbers.collect(prepared.signals.map(definitionOf));
    // Published also at each start: a new receiver, or one that lost the retained message, needs it.
    for (const part of catalogParts(catalog.entries)) publisher.put('catalog', part, { retain: true });
    const collection = new RunningCollection(order, prepared, catalog, this.#collectionParts());
    if (gathered.length > 0) collection.restoreParts(gathered);
    collection.look(this.#parts.clock.now());
    this.#running.set(name, collection);
    log.info('collect.begun', { name, until, signals: prepared.signals.length });
    this.#tell();
  }

  #end(name: string, why: string): void {
    const collection = this.#running.get(name);
    if (collection === undefined) return;
    this.#close(name);
    this.#drop(collection.order);
    this.#parts.log.info('collect.ended', { name, why });
    this.#tell();
  }

  /** Closes a collection and publishes its open readings. */
  #close(name: string): void {
    const collection = this.#running.get(name);
    if (collection === undefined) return;
    const { numbers, quality, clock } = this.#parts;
    collection.close();
    numbers.end(collection.catalog, quality() === 'none' ? undefined : clock.now());
    this.#running.delete(name);
  }

  #drop(order: CollectOrder): void {
    const { name } = order;
    if (this.#stored.get(name)?.order === order) this.#stored.delete(name);
    this.#store();
    for (let part = 0; part < PARTS; part++) this.#forgotten.push(keyOf(name, part));
  }

  #collectionParts() {
    const { status, privacy, deflate, batch, patience } = this.#parts;
    const append: Records['append'] = (kind, piece, at) => {
      this.#parts.records.append(kind, piece, at);
      this.#count((piece as Telemetry).signals?.columns.length ?? 0);
    };
    return {
      status,
      deflate,
      batch,
      patience,
      records: { append },
      // While collection is paused, hide all values. When it resumes, record the current values, except private ones.
      privacy: (at?: number) => {
        const level = Math.max(privacy(at), this.#batchPrivacy);
        return this.#isPaused() ? (level > 0 ? ALL : PAUSED) : level;
      },
    };
  }

  /** Returns true if the byte limit is reached or the time is unknown, and with it the end of a collection. */
  #isPaused(): boolean {
    return this.#isFull() || this.#parts.quality() === 'none';
  }

  #isFull(): boolean {
    return this.#today.bytes >= this.#parts.bytesPerDay;
  }

  #count(columns: number): void {
    const { clock, bytesPerDay, log } = this.#parts;
    const now = clock.now();
    this.#look(now);
    const wasFull = this.#isFull();
    this.#today = { ...this.#today, bytes: this.#today.bytes + columns + ENVELOPE };
    if (wasFull || !this.#isFull()) return;
    this.#boundReachedAt = Math.round(now);
    log.error('collect.bound', { bytesPerDay });
    this.#tell();
  }

  /** Starts a new day if `now` is in one. */
  #look(now: number): void {
    const day = Math.floor(now / DAY);
    if (day !== this.#today.day) this.#today = { day, bytes: 0 };
  }

  #checkSize(name: string, { signals }: PreparedCollection): void {
    let all = signals.length;
    for (const [other, { prepared }] of this.#running) if (other !== name) all += prepared.signals.length;
    if (all <= MOST_SIGNALS) return;
    throw new VigieError('input.malformed', `${all} signals would be collected; at most ${MOST_SIGNALS} allowed`);
  }

  /** Stores a change of the commands; if the disk refuses, restores the state `before`. */
  async #secure(name: string, before: Stored | undefined): Promise<void> {
    const stored = this.#stored.get(name);
    this.#store();
    try {
      await this.#parts.commit();
    } catch (error) {
      if (this.#stored.get(name) === stored) {
        if (before === undefined) this.#stored.delete(name);
        else this.#stored.set(name, before);
        this.#store();
      }
      throw error;
    }
  }

  #store(): void {
    const bodies = [...this.#stored.values()].map(({ body }) => body);
    this.#commands = bodies.length === 0 ? undefined : Object.freeze(bodies);
  }

  #tell(): void {
    this.#parts.changed([...this.#running.values()].map(({ prepared }) => prepared));
  }
}

function checkUntil({ until }: CollectOrder, at: number): void {
  if (until === undefined) throw new VigieError('input.malformed', '`until` is missing: a collection needs an end');
  if (until <= at) throw new VigieError('input.malformed', `until is in the past: ${dateTime(until)}`);
  if (until - at > LONGEST) {
    const message = `until is ${dateTime(until)}; a collection takes at most ${LONGEST / DAY} days`;
    throw new VigieError('input.malformed', message);
  }
}

function never(): never {
  throw new Error('a collection without signals reads no frames');
}
