import type { Clock } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';

interface FailureBound {
  /** Maximum number of failed logins of one name from one source within {@link windowMs}. */
  readonly attempts: number;
  /** Maximum number of all failed logins within {@link windowMs}; beyond it, only sources without failures may try. */
  readonly budget: number;
  readonly windowMs: number;
}

/** With this limit, guessing a password of ten letters takes longer than the car's life; a few typos do no harm. */
const DEFAULT: FailureBound = { attempts: 10, budget: 100, windowMs: 60_000 };
/** More entries than two minutes of sequential checks can create, so that no entry is evicted within its window. */
const MAX_ENTRIES = 10_000;

/** An error that contains the time to wait. */
export class TooManyRequests extends VigieError {
  /** Time to wait in whole seconds, at least 1. */
  readonly retryAfter: number;

  constructor(message: string, wait: number) {
    const retryAfter = Math.max(1, Math.ceil(wait / 1000));
    super('request.rate', `${message}; try again in ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}

/** A login whose password is being checked. Call exactly one of the two functions, once. */
interface Attempt {
  failed(): void;
  /** Call if the password was right, or if it was not checked. */
  ended(): void;
}

/**
 * Limits failed password logins. A name with too many failures from a source must wait, even with the right password:
 * otherwise the response would show which guess was right. A source is a client network or a certificate.
 */
export class Failures {
  readonly #clock: Clock;
  readonly #bound: FailureBound;
  /** By name and source, the times of up to `attempts` newest failures, in monotonic ms, oldest first. */
  readonly #failed = new Map<string, readonly number[]>();
  /** By source, the time of its newest failure in monotonic ms, oldest first. */
  readonly #sources = new Map<string, number>();
  /** Times of up to `budget` newest failures of all sources, oldest first. */
  #newest: readonly number[] = [];
  /** Number of unfinished attempts by name and source: each may still fail. */
  readonly #open = new Map<string, number>();

  constructor(clock: Clock, bound: Partial<FailureBound> = {}) {
    this.#clock = clock;
    this.#bound = { ...DEFAULT, ...bound };
  }

  /** True if the failures of all sources within the window have reached the budget. */
  get strained(): boolean {
    const { budget, windowMs } = this.#bound;
    return this.#newest.length >= budget && (this.#newest[0] as number) + windowMs > this.#clock.monotonic();
  }

  /** Returns the time in ms until all failures of this source have expired; 0 if it had no recent failures. */
  waitOf(source: string): number {
    const last = this.#sources.get(source);
    return last === undefined ? 0 : Math.max(0, last + this.#bound.windowMs - this.#clock.monotonic());
  }

  /** @throws TooManyRequests if logins of this name from this source must wait */
  begin(name: string, source: string): Attempt {
    const key = `${source} ${name}`;
    const { attempts, windowMs } = this.#bound;
    const since = this.#clock.monotonic() - windowMs;
    const times = (this.#failed.get(key) ?? []).filter((time) => time > since);
    const open = this.#open.get(key) ?? 0;
    if (times.length + open >= attempts) {
      const wait = times.length < attempts ? 1_000 : (times[0] as number) - since;
      throw new TooManyRequests('too many failed logins with this name from this address', wait);
    }
    this.#open.set(key, open + 1);
    const ended = (): void => {
      const left = (this.#open.get(key) ?? 1) - 1;
      if (left === 0) this.#open.delete(key);
      else this.#open.set(key, left);
    };
    return {
      ended,
      failed: () => {
        ended();
        this.#add(key, source);
      },
    };
  }

  #add(key: string, source: string): void {
    const now = this.#clock.monotonic();
    const { attempts, budget } = this.#bound;
    const times = [...(this.#failed.get(key) ?? []), now].slice(-attempts);
    this.#newest = [...this.#newest, now].slice(-budget);
    putLast(this.#failed, key, times, (one) => this.#isOld(one.at(-1) ?? 0));
    putLast(this.#sources, source, now, (time) => this.#isOld(time));
  }

  #isOld(time: number): boolean {
    return time + this.#bound.windowMs <= this.#clock.monotonic();
  }
}

/** Moves the key to the end with its new value; removes entries from the start that are old or exceed the maximum. */
function putLast<V>(map: Map<string, V>, key: string, value: V, isOld: (value: V) => boolean): void {
  map.delete(key);
  map.set(key, value);
  for (const [first, one] of map) {
    if (map.size <= MAX_ENTRIES && !isOld(one)) return;
    map.delete(first);
  }
}
