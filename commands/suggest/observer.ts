/** Collects the values of all signals in logs. */
import {
  type BoundDatabase,
  DbcFrameReader,
  type DbcMessage,
  MessageFinder,
  type Signal,
} from '../../adapters/can/dbc/index.ts';
import { ERROR, type FrameBatch, REMOTE } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { isCode } from './codes.ts';
import { mostValues, type Observed, type ObservedValidity } from './observed.ts';
import { type Validity, validityOf } from './validity.ts';

/** Observed values of one message on one bus. */
interface Seen {
  readonly signals: readonly SeenSignal[];
  /** Identifiers of its frames, with EXTENDED bit. */
  readonly ids: Set<number>;
  /** Previous payload. Repetitions of it are skipped. */
  payload: Uint8Array;
}

/** Largest number of raw values that may be codes for "invalid". */
const MOST_CODES = 6;

/** Largest number of raw values, valid or invalid, that are stored to find such codes. */
const MAX_COMPARED = 4096;

class SeenSignal {
  readonly signal: Signal;
  readonly #validity: Validity | undefined;
  readonly #whileInvalid = new Set<number>();
  readonly #whileValid = new Set<number>();
  #invalid = 0;
  readonly raws = new Set<number>();
  changes = 0;
  falls = 0;
  #minimum = Number.POSITIVE_INFINITY;
  #maximum = Number.NEGATIVE_INFINITY;
  #last: number | undefined;

  constructor(signal: Signal, message: DbcMessage) {
    this.signal = signal;
    this.#validity = validityOf(signal, message);
  }

  /** @param values all signals of the frame */
  add(value: number, values: Readonly<Record<string, number | string>>): void {
    const { signal } = this;
    const raw = rawOf(signal, value);
    this.#addValidity(raw, values);
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
    const validity = this.#observedValidity;
    return {
      raws,
      changes,
      falls,
      ...(this.#last === undefined ? {} : { span: [this.#minimum, this.#maximum] }),
      ...defined({ validity }),
    };
  }

  get #observedValidity(): ObservedValidity | undefined {
    if (this.#validity === undefined) return undefined;
    const codes = [...this.#whileInvalid];
    const areCodes = codes.length > 0 && codes.length <= MOST_CODES && codes.every((raw) => !this.#whileValid.has(raw));
    const known = this.#whileValid.size > 0 && this.#whileValid.size < MAX_COMPARED && areCodes;
    return {
      signal: this.#validity.signal.name,
      invalid: this.#invalid,
      ...(known ? { codes: codes.sort((one, other) => one - other) } : {}),
    };
  }

  #addValidity(raw: number | undefined, values: Readonly<Record<string, number | string>>): void {
    if (this.#validity === undefined) return;
    const { signal, isValid } = this.#validity;
    const stated = values[signal.name];
    const flag = typeof stated === 'number' ? rawOf(signal, stated) : undefined;
    const valid = flag === undefined ? undefined : isValid(flag);
    if (valid === undefined) return;
    if (!valid) this.#invalid++;
    const raws = valid ? this.#whileValid : this.#whileInvalid;
    if (raw !== undefined && raws.size < MAX_COMPARED) raws.add(raw);
  }
}

/** Returns the integer raw value of a physical value; undefined for a float. */
function rawOf({ type, offset, factor }: Signal, value: number): number | undefined {
  return type === 'float' ? undefined : Math.round((value - offset) / factor);
}

/** Collects the values of the signals of one DBC. */
class DatabaseObserver {
  readonly #bound: BoundDatabase;
  readonly #finder: MessageFinder;
  readonly #seen = new Map<string, Map<DbcMessage, Seen>>();
  #reader: DbcFrameReader | undefined;
  #names: readonly string[] = [];

  constructor(bound: BoundDatabase) {
    this.#bound = bound;
    this.#finder = new MessageFinder([bound]);
  }

  add(batch: FrameBatch, names: readonly string[]): void {
    if (this.#reader === undefined || this.#names !== names) {
      this.#reader = new DbcFrameReader([this.#bound], names);
      this.#names = names;
    }
    for (let i = 0; i < batch.count; i++) {
      const id = batch.id[i]!;
      if ((id & (REMOTE | ERROR)) !== 0) continue;
      const bus = names[batch.bus[i]!]!;
      const message = this.#finder.find(bus, id);
      if (message === undefined) continue;
      const seen = this.#seenOf(bus, message);
      seen.ids.add(id);
      const payload = batch.data.subarray(batch.offset[i]!, batch.offset[i]! + batch.length[i]!);
      if (Buffer.compare(payload, seen.payload) === 0) continue;
      seen.payload = payload.slice();
      const values = this.#reader.decode(batch, i)?.signals ?? {};
      for (const signal of seen.signals) {
        const value = values[signal.signal.name];
        if (typeof value === 'number') signal.add(value, values);
      }
    }
  }

  seen(bus: string, message: DbcMessage): Seen | undefined {
    return this.#seen.get(bus)?.get(message);
  }

  messages(bus: string): Iterable<DbcMessage> {
    return this.#seen.get(bus)?.keys() ?? [];
  }

  #seenOf(bus: string, message: DbcMessage): Seen {
    const messages = this.#seen.get(bus) ?? new Map<DbcMessage, Seen>();
    this.#seen.set(bus, messages);
    let seen = messages.get(message);
    if (seen === undefined) {
      const signals = message.signals.map((signal) => new SeenSignal(signal, message));
      seen = { signals, ids: new Set(), payload: new Uint8Array(0) };
      messages.set(message, seen);
    }
    return seen;
  }
}

/** Collects the values of all signals, separately for each DBC: which DBC describes a frame is decided afterwards. */
export class SuggestionObserver {
  readonly #observers: ReadonlyMap<BoundDatabase, DatabaseObserver>;
  readonly #names = new Set<string>();
  #used: readonly BoundDatabase[];
  #finder: MessageFinder;

  constructor(databases: readonly BoundDatabase[]) {
    this.#observers = new Map(databases.map((bound) => [bound, new DatabaseObserver(bound)]));
    this.#used = databases;
    this.#finder = new MessageFinder(databases);
  }

  /** @param names names of the log's buses; {@link FrameBatch.bus} is an index into them */
  add(batch: FrameBatch, names: readonly string[]): void {
    for (let i = 0; i < batch.count; i++) this.#names.add(names[batch.bus[i]!]!);
    for (const observer of this.#observers.values()) observer.add(batch, names);
  }

  /** Chooses the files that describe the logs. The first with an identifier describes it, as in a profile. */
  use(databases: readonly BoundDatabase[]): void {
    this.#used = databases;
    this.#finder = new MessageFinder(databases);
  }

  /** Buses that have described frames, in the order of their first frame. */
  get buses(): readonly string[] {
    return [...this.#names].filter((bus) =>
      this.#used.some((bound) =>
        [...(this.#observers.get(bound)?.messages(bus) ?? [])].some((message) => this.has(bus, message)),
      ),
    );
  }

  /** Returns true if the bus has had frames that the message describes. */
  has(bus: string, message: DbcMessage): boolean {
    return this.#seenOf(bus, message) !== undefined;
  }

  /** Returns the data about a signal; undefined if the log has no value of it on this bus. */
  observed(bus: string, message: DbcMessage, signal: Signal): Observed | undefined {
    const seen = this.#seenOf(bus, message)?.signals.find((one) => one.signal === signal);
    return seen === undefined || (seen.raws.size === 0 && seen.observed.span === undefined) ? undefined : seen.observed;
  }

  #seenOf(bus: string, message: DbcMessage): Seen | undefined {
    for (const bound of this.#used) {
      const seen = this.#observers.get(bound)?.seen(bus, message);
      if (seen !== undefined && [...seen.ids].some((id) => this.#finder.find(bus, id) === message)) return seen;
    }
    return undefined;
  }
}
