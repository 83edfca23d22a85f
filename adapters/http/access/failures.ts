import type { Clock } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';

export interface FailureBound {
  /** Failed attempts that one address may make within {@link window}. */
  readonly attempts: number;
  /** Milliseconds. */
  readonly window: number;
  /** Addresses that are remembered; more than these share one count. */
  readonly addresses: number;
}

/** Guessing a password of ten letters takes longer than the car lasts; a person who mistypes does not notice. */
const DEFAULT: FailureBound = { attempts: 10, window: 60_000, addresses: 1_000 };

/** An error that says how long to wait. */
export class TooManyRequests extends VigieError {
  /** Whole seconds, at least 1. */
  readonly retryAfter: number;

  constructor(message: string, wait: number) {
    const retryAfter = Math.max(1, Math.ceil(wait / 1000));
    super('request.rate', `${message}; try again in ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}

/** Bounds failed logins by address: an address with too many failures waits, even with the right credentials. */
export class Failures {
  readonly #clock: Clock;
  readonly #bound: FailureBound;
  /** When the last of them were, at most as many as may be; monotonic ms. */
  readonly #failed = new Map<string, readonly number[]>();

  constructor(clock: Clock, bound: Partial<FailureBound> = {}) {
    this.#clock = clock;
    this.#bound = { ...DEFAULT, ...bound };
  }

  /** @throws TooManyRequests when the address has to wait */
  check(address: string): void {
    const times = this.#failed.get(this.#key(address)) ?? [];
    if (times.length < this.#bound.attempts) return;
    const wait = (times[0] as number) + this.#bound.window - this.#clock.monotonic();
    if (wait > 0) throw new TooManyRequests('too many failed logins from this address', wait);
  }

  failed(address: string): void {
    const key = this.#key(address);
    const times = this.#failed.get(key) ?? [];
    this.#failed.set(key, [...times, this.#clock.monotonic()].slice(-this.#bound.attempts));
  }

  /** Addresses of one IPv6 network (/64) are one; what no longer fits into memory shares one count. */
  #key(address: string): string {
    const network = address.includes(':') ? networkOf(address) : address;
    if (this.#failed.has(network) || this.#failed.size < this.#bound.addresses) return network;
    const since = this.#clock.monotonic() - this.#bound.window;
    for (const [key, times] of this.#failed) if ((times.at(-1) ?? 0) <= since) this.#failed.delete(key);
    return this.#failed.size < this.#bound.addresses ? network : 'others';
  }
}

/** The first 64 bits of an IPv6 address (RFC 4291 §2.5.4). */
function networkOf(address: string): string {
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? [];
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':');
    while (groups.length + rest.length < 8) groups.push('0');
    groups.push(...rest);
  }
  return groups.slice(0, 4).join(':');
}
