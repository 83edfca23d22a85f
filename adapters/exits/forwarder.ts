/** Hands numbered items to a receiver in their order, and continues after an outage with the first unconfirmed one. */
import { Backoff } from '../../agent/backoff.ts';
import type { Clock, Log, NumberedRecords, StoredRecord } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { factOf, reasonOf, VigieError } from '../../protocol/errors.ts';

/** The next items of a source. */
export interface Portion<T> {
  readonly items: readonly T[];
  /** First number after the portion. */
  readonly next: number;
  /** Number of items in the portion's range that no longer exist. */
  readonly lost: number;
}

export interface NumberedSource<T> {
  /** Returns at most `most` items from number `from` on. Rejects with a retriable error if they cannot be read now. */
  read(from: number, most: number): Promise<Portion<T>>;
  /** Number after the last item. */
  end(): number;
}

/** Persisted form. */
export interface ForwarderState {
  /** First number that the receiver has not confirmed. */
  readonly next: number;
  /** Number of items that were deleted before the receiver got them. */
  readonly lost: number;
  /** Number of items that the receiver refused for good. */
  readonly refused: number;
}

export interface ForwarderParts<T> {
  /** Name in the log, for example `influx telemetry`. */
  readonly name: string;
  readonly source: NumberedSource<T>;
  /**
   * Resolves when the receiver has confirmed all items. Rejects with a VigieError: if it is retriable, the same items
   * follow later; otherwise they follow in smaller portions, until only the refused ones are left out.
   */
  readonly write: (items: readonly T[], signal: AbortSignal) => Promise<void>;
  /** Stores the state. `idle`: no item is left, so nothing else will store it soon. */
  readonly save: (state: ForwarderState, idle: boolean) => Promise<void>;
  /** Returns the time in ms until the next look for new items. */
  readonly interval: () => number;
  /** Largest number of items in a portion. If omitted, {@link MAX_ITEMS}. */
  readonly most?: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ForwarderReport {
  readonly name: string;
  /** Number of items that the receiver has not confirmed; an upper bound. */
  readonly waiting: number;
  readonly lost: number;
  readonly refused: number;
  /** Reason of the last failure, if it has not ended. */
  readonly error?: string;
  /** Last time in UTC ms that the receiver confirmed items; unknown before the first time in this run. */
  readonly succeededAt?: number;
}

/** A busy minute is an item of 1,000 readings: larger portions need more memory and are hardly faster. */
const MAX_ITEMS = 2;
/** Delays in ms after failures. */
const RETRY = { first: 1_000, longest: 300_000 };

const START: ForwarderState = Object.freeze({ next: 0, lost: 0, refused: 0 });

export class Forwarder<T> {
  readonly #parts: ForwarderParts<T>;
  readonly #backoff = new Backoff(RETRY);
  readonly #abort = new AbortController();
  #state: ForwarderState;
  #most: number;
  #error: string | undefined;
  #succeededAt: number | undefined;
  #unsaved = false;
  #cancel: (() => void) | undefined;
  #running: Promise<void> | undefined;

  /** `state`: the stored state; if it is not one, starts with the oldest item. */
  constructor(parts: ForwarderParts<T>, state?: unknown) {
    this.#parts = parts;
    this.#most = parts.most ?? MAX_ITEMS;
    this.#state = isState(state) ? Object.freeze({ ...state }) : START;
  }

  get state(): ForwarderState {
    return this.#state;
  }

  get report(): ForwarderReport {
    const { name, source } = this.#parts;
    const { next, lost, refused } = this.#state;
    const waiting = Math.max(0, source.end() - next);
    return { name, waiting, lost, refused, ...defined({ error: this.#error, succeededAt: this.#succeededAt }) };
  }

  /** Starts forwarding, or looks for new items now. Resolves when no item is left, or the receiver takes none. */
  poke(): Promise<void> {
    if (this.#running !== undefined) return this.#running;
    if (this.#abort.signal.aborted) return Promise.resolve();
    this.#cancel?.();
    this.#cancel = undefined;
    this.#running = this.#round().then((delay) => {
      this.#running = undefined;
      if (!this.#abort.signal.aborted) this.#cancel = this.#parts.clock.after(delay, () => void this.poke());
    });
    return this.#running;
  }

  /** Aborts a running transfer; its items follow after the next start. */
  async close(): Promise<void> {
    this.#abort.abort();
    this.#cancel?.();
    await this.#running;
  }

  /** Forwards everything that is there. Returns the delay in ms until the next round. */
  async #round(): Promise<number> {
    const { log, name, interval, save } = this.#parts;
    try {
      while (!this.#abort.signal.aborted && (await this.#step()));
      if (this.#unsaved) await save(this.#state, true);
      this.#unsaved = false;
      this.#backoff.reset();
      return interval();
    } catch (error) {
      if (this.#abort.signal.aborted) return 0;
      const reason = reasonOf(error);
      if (this.#error === undefined) log.warn('exit.waiting', { exit: name, reason, waiting: this.report.waiting });
      this.#error = reason;
      return this.#backoff.next();
    }
  }

  /** Returns false if no item is left. */
  async #step(): Promise<boolean> {
    const { source, save, log, name } = this.#parts;
    const { next: from, lost, refused } = this.#state;
    const portion = await source.read(from, this.#most);
    if (portion.next <= from) return false;
    const taken = portion.items.length === 0 || (await this.#write(portion.items, from));
    if (taken === 'smaller') return true;
    if (portion.lost > 0) log.warn('exit.expired', { exit: name, records: portion.lost });
    this.#state = Object.freeze({
      next: portion.next,
      lost: lost + portion.lost,
      refused: refused + Number(!taken),
    });
    this.#unsaved = true;
    await save(this.#state, false);
    return true;
  }

  /** Resolves with true if the receiver confirmed the items, with false if it refused the only one. */
  async #write(items: readonly T[], from: number): Promise<boolean | 'smaller'> {
    const { write, log, name, clock, most = MAX_ITEMS } = this.#parts;
    try {
      await write(items, this.#abort.signal);
      this.#succeededAt = Math.round(clock.now());
      this.#most = Math.min(most, this.#most + 1);
    } catch (error) {
      if (this.#abort.signal.aborted || !(error instanceof VigieError) || factOf(error.code).retriable) throw error;
      this.#most = Math.ceil(items.length / 2);
      if (items.length > 1) return 'smaller';
      log.warn('exit.itemRefused', { exit: name, number: from, reason: error.message });
      return false;
    }
    if (this.#error !== undefined) log.info('exit.resumed', { exit: name, waiting: this.report.waiting });
    this.#error = undefined;
    this.#backoff.reset();
    return true;
  }
}

function isState(state: unknown): state is ForwarderState {
  const { next, lost, refused } = (state ?? {}) as Partial<ForwarderState>;
  return [next, lost, refused].every((one) => Number.isSafeInteger(one) && Number(one) >= 0);
}

/** A record and its number in its collection. */
export interface NumberedItem {
  readonly number: number;
  readonly stored: StoredRecord;
}

/** Source of a collection of the car's records. While `ready` returns false, their times may still be corrected. */
export function recordSource(
  records: NumberedRecords,
  collection: string,
  ready: () => boolean,
): NumberedSource<NumberedItem> {
  return {
    end: () => records.end(collection),
    async read(from, most) {
      if (!ready()) return { items: [], next: from, lost: 0 };
      const items: NumberedItem[] = [];
      let next = from;
      let damaged = 0;
      for (const { number, stored } of records.from(collection, from)) {
        if (items.length === most) return { items, next, lost: records.expired(collection, from, next) + damaged };
        if (stored === undefined) damaged++;
        else items.push({ number, stored });
        next = number + 1;
      }
      next = Math.max(next, records.end(collection));
      return { items, next, lost: records.expired(collection, from, next) + damaged };
    },
  };
}
