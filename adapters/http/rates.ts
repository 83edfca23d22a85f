/** Limits each caller's requests per 24 h and per second (interface §6). */

import type { Clock } from '../../agent/ports.ts';
import { DAY } from '../../protocol/calendar.ts';
import type { RequestRates } from '../../protocol/settings.ts';
import { TooManyRequests } from './access/failures.ts';

const SECOND = 1_000;
/** Slices per window: a request counts until its whole slice has left the window, so at most one slice too long. */
const SLICES = { day: 96, second: 10 };
/** Maximum number of callers with stored counts. They are users and token subjects, so there are few. */
const CALLERS = 1_000;

/** Requests of one caller within the last `length` ms. */
class Window {
  readonly #length: number;
  readonly #counts: Uint32Array;
  readonly #slice: number;
  #total = 0;
  /** Number of the newest slice, counted from the origin of the rate limiter's clock. */
  #newest = Number.NEGATIVE_INFINITY;

  constructor(length: number, slices: number) {
    this.#length = length;
    this.#slice = length / slices;
    // One more slice, for the oldest, which is only partly within the window.
    this.#counts = new Uint32Array(slices + 1);
  }

  total(now: number): number {
    this.#move(now);
    return this.#total;
  }

  add(now: number): void {
    this.#move(now);
    const index = this.#newest % this.#counts.length;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#total++;
  }

  /** Returns the time in ms until a request leaves the window. */
  wait(now: number): number {
    this.#move(now);
    for (let slice = this.#newest - this.#counts.length + 1; slice <= this.#newest; slice++) {
      if (slice >= 0 && (this.#counts[slice % this.#counts.length] ?? 0) > 0) {
        return (slice + 1) * this.#slice + this.#length - now;
      }
    }
    return 0;
  }

  #move(now: number): void {
    const slice = Math.floor(now / this.#slice);
    for (let next = Math.max(this.#newest + 1, slice - this.#counts.length + 1); next <= slice; next++) {
      const index = next % this.#counts.length;
      this.#total -= this.#counts[index] ?? 0;
      this.#counts[index] = 0;
    }
    this.#newest = Math.max(this.#newest, slice);
  }
}

interface Windows {
  readonly day: Window;
  readonly second: Window;
}

/** Counts requests by caller. */
export class RateLimiter {
  readonly #rates: RequestRates;
  readonly #clock: Clock;
  readonly #callers = new Map<string, Windows>();
  readonly #origin: number;

  constructor(rates: RequestRates, clock: Clock) {
    this.#rates = rates;
    this.#clock = clock;
    this.#origin = clock.monotonic();
  }

  /** Counts an allowed request. @throws TooManyRequests with the time until the next request is allowed */
  count(caller: string): void {
    const now = this.#now();
    const { day, second } = this.#windows(caller);
    if (day.total(now) >= this.#rates.perDay) {
      throw new TooManyRequests(`${this.#rates.perDay} requests in 24 h are used`, day.wait(now));
    }
    if (second.total(now) >= this.#rates.perSecond) {
      throw new TooManyRequests(`more than ${this.#rates.perSecond} requests in a second`, second.wait(now));
    }
    day.add(now);
    second.add(now);
  }

  /** Returns the published rate headers: `-1` is the window of 24 h, `-2` the window of one second. */
  headers(caller: string): Readonly<Record<string, string>> {
    const now = this.#now();
    const { day, second } = this.#windows(caller);
    return {
      'X-RateLimit-Limit-1': String(this.#rates.perDay),
      'X-RateLimit-Remaining-1': String(this.#rates.perDay - day.total(now)),
      'X-RateLimit-Limit-2': String(this.#rates.perSecond),
      'X-RateLimit-Remaining-2': String(this.#rates.perSecond - second.total(now)),
    };
  }

  #now(): number {
    return this.#clock.monotonic() - this.#origin;
  }

  #windows(caller: string): Windows {
    let windows = this.#callers.get(caller);
    if (windows !== undefined) return windows;
    windows = { day: new Window(DAY, SLICES.day), second: new Window(SECOND, SLICES.second) };
    if (this.#callers.size >= CALLERS) {
      // Remove the caller that was added first. This is rare, since the limit exceeds the number of users.
      const [first] = this.#callers.keys();
      if (first !== undefined) this.#callers.delete(first);
    }
    this.#callers.set(caller, windows);
    return windows;
  }
}
