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

/** Bounds failed logins by address: whoever fails too often waits, right credentials or not. */
export class Failures {
  readonly #clock: Clock;
  readonly #bound: FailureBound;
  readonly #failed = new Map<string, { count: number; until: number }>();

  constructor(clock: Clock, bound: Partial<FailureBound> = {}) {
    this.#clock = clock;
    this.#bound = { ...DEFAULT, ...bound };
  }

  /** @throws TooManyRequests when the address has to wait */
  check(address: string): void {
    const now = this.#clock.monotonic();
    const failed = this.#failed.get(this.#key(address));
    if (failed === undefined || now >= failed.until || failed.count < this.#bound.attempts) return;
    throw new TooManyRequests('too many failed logins from this address', failed.until - now);
  }

  failed(address: string): void {
    const now = this.#clock.monotonic();
    const key = this.#key(address);
    const known = this.#failed.get(key);
    if (known !== undefined && now < known.until) known.count++;
    else this.#failed.set(key, { count: 1, until: now + this.#bound.window });
  }

  /** Addresses of one IPv6 network (/64) are one; what no longer fits into memory shares one count. */
  #key(address: string): string {
    const network = address.includes(':') ? networkOf(address) : address;
    if (this.#failed.has(network) || this.#failed.size < this.#bound.addresses) return network;
    const now = this.#clock.monotonic();
    for (const [key, { until }] of this.#failed) if (now >= until) this.#failed.delete(key);
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
