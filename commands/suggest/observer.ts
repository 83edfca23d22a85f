/** Collects the values of all signals in logs. */
import {
  type BoundDatabase,
  DbcFrameReader,
  type DbcMessage,
  MessageFinder,
  type Signal,
} from '../../adapters/can/dbc/index.ts';
import { ERROR, type FrameBatch, REMOTE } from '../../agent/ports.ts';
import { isCode } from './codes.ts';
import { mostValues, type Observed } from './observed.ts';

/** Observed content of one message on one bus. */
interface Seen {
  readonly signals: readonly SeenSignal[];
  /** Previous payload, to skip repetitions. */
  payload: Uint8Array;
}

class SeenSignal {
  readonly signal: Signal;
  readonly raws = new Set<number>();
  changes = 0;
  falls = 0;
  #minimum = Number.POSITIVE_INFINITY;
  #maximum = Number.NEGATIVE_INFINITY;
  #last: number | undefined;

  constructor(signal: Signal) {
    this.signal = signal;
  }

  add(value: number): void {
    const { signal } = this;
    const raw = signal.type === 'float' ? undefined : Math.round((value - signal.offset) / signal.factor);
    if (raw !== undefined && this.raws.size < mostValues) this.raws.add(raw);
    if (raw !== undefined && isCode(signal, raw)) return;
    if (this.#last !== undefined && value !== this.#last) this.changes++;
    if (this.#last !== undefined && value < this.#last) this.falls++;
    this.#last = value;
    this.#minimum = Math.min(this.#minimum, value);
    this.#maximum = Math.max(this.#maximum, value);
  }

  get observed(): Observed {
    const { raws, changes, falls } = this;
    return { raws, changes, falls, ...(this.#last === undefined ? {} : { span: [this.#minimum, this.#maximum] }) };
  }
}

export class SuggestionObserver {
  readonly #finder: MessageFinder;
  readonly #databases: readonly BoundDatabase[];
  readonly #seen = new Map<string, Map<DbcMessage, Seen>>();
  #reader: DbcFrameReader | undefined;
  #names: readonly string[] = [];

  constructor(databases: readonly BoundDatabase[]) {
    this.#databases = databases;
    this.#finder = new MessageFinder(databases);
  }

  /** @param names buses of this log; {@link FrameBatch.bus} is an index into them */
  add(batch: FrameBatch, names: readonly string[]): void {
    if (this.#reader === undefined || this.#names !== names) {
      this.#reader = new DbcFrameReader(this.#databases, names);
      this.#names = names;
    }
    for (let i = 0; i < batch.count; i++) {
      const id = batch.id[i]!;
      if ((id & (REMOTE | ERROR)) !== 0) continue;
      const bus = names[batch.bus[i]!]!;
      const message = this.#finder.find(bus, id);
      if (message === undefined) continue;
      const seen = this.#seenOf(bus, message);
      const payload = batch.data.subarray(batch.offset[i]!, batch.offset[i]! + batch.length[i]!);
      if (Buffer.compare(payload, seen.payload) === 0) continue;
      seen.payload = payload.slice();
      const values = this.#reader.decode(batch, i)?.signals ?? {};
      for (const signal of seen.signals) {
        const value = values[signal.signal.name];
        if (typeof value === 'number') signal.add(value);
      }
    }
  }

  /** Buses with described frames, in order of their first frame. */
  get buses(): readonly string[] {
    return [...this.#seen.keys()];
  }

  /** Returns true if the bus has had frames of the message. */
  has(bus: string, message: DbcMessage): boolean {
    return this.#seen.get(bus)?.has(message) === true;
  }

  /** Returns the data about a signal; undefined if the bus has had no value of it. */
  observed(bus: string, message: DbcMessage, signal: Signal): Observed | undefined {
    const seen = this.#seen
      .get(bus)
      ?.get(message)
      ?.signals.find((one) => one.signal === signal);
    return seen === undefined || (seen.raws.size === 0 && seen.observed.span === undefined) ? undefined : seen.observed;
  }

  #seenOf(bus: string, message: DbcMessage): Seen {
    const messages = this.#seen.get(bus) ?? new Map<DbcMessage, Seen>();
    this.#seen.set(bus, messages);
    let seen = messages.get(message);
    if (seen === undefined) {
      seen = { signals: message.signals.map((signal) => new SeenSignal(signal)), payload: new Uint8Array(0) };
      messages.set(message, seen);
    }
    return seen;
  }
}
