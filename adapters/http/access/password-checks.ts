/** Bounds the work of checking passwords: each check takes 16 MiB and a thread for some 40 ms. */
import { TooManyRequests } from './failures.ts';

/** Passwords being checked at a time, and checks of one network that run or wait. */
const MAX_RUNNING = 4;
/** The same while many logins fail: guessing stays as slow as one check after the other. */
const MAX_RUNNING_STRAINED = 1;
const MAX_WAITING = 64;

interface CheckRequest {
  /** Addresses that share a part of the work. */
  readonly network: string;
  /** Many logins failed within the last minute. */
  readonly strained: boolean;
  /** Runs before all others, and always may wait. */
  readonly preferred: boolean;
}

interface WaitingCheck {
  readonly request: CheckRequest;
  readonly start: () => void;
}

export class PasswordChecks {
  #running = 0;
  #waiting: readonly WaitingCheck[] = [];
  /** Checks that run or wait, by network. */
  readonly #networks = new Map<string, number>();

  /** Runs `check` when it is its turn. @throws TooManyRequests when too many run and wait, of all or of the network */
  async run(request: CheckRequest, check: () => Promise<boolean>): Promise<boolean> {
    const { network, preferred } = request;
    const own = this.#networks.get(network) ?? 0;
    if (own >= limitOf(request) || (this.#waiting.length >= MAX_WAITING && !preferred)) {
      throw new TooManyRequests('too many logins at a time', 1_000);
    }
    this.#networks.set(network, own + 1);
    try {
      if (this.#running >= limitOf(request)) await this.#wait(request);
      else this.#running++;
      try {
        return await check();
      } finally {
        this.#running--;
        this.#startNext();
      }
    } finally {
      const left = (this.#networks.get(network) ?? 1) - 1;
      if (left === 0) this.#networks.delete(network);
      else this.#networks.set(network, left);
    }
  }

  #wait(request: CheckRequest): Promise<void> {
    return new Promise((resolve) => {
      const waiting = { request, start: resolve };
      this.#waiting = request.preferred ? [waiting, ...this.#waiting] : [...this.#waiting, waiting];
    });
  }

  /** The check counts as running at once, so that no other takes its turn. */
  #startNext(): void {
    const [next, ...rest] = this.#waiting;
    if (next === undefined || this.#running >= limitOf(next.request)) return;
    this.#waiting = rest;
    this.#running++;
    next.start();
    this.#startNext();
  }
}

function limitOf({ strained }: CheckRequest): number {
  return strained ? MAX_RUNNING_STRAINED : MAX_RUNNING;
}
