/** Limits concurrent password checks: each uses 16 MiB and a thread for about 40 ms. */
import { TooManyRequests } from './failures.ts';

/** Maximum concurrent checks in total, and maximum running plus waiting checks per network. */
const MAX_RUNNING = 4;
/** Maximum concurrent checks while many logins fail, so that guessing is no faster than one check at a time. */
const MAX_RUNNING_STRAINED = 1;
const MAX_WAITING = 64;

interface CheckRequest {
  /** Addresses that share one limit. */
  readonly network: string;
  /** True if many logins failed within the last minute. */
  readonly strained: boolean;
  /** True if the check goes ahead of all others and is queued even if the queue is full. */
  readonly preferred: boolean;
}

interface WaitingCheck {
  readonly request: CheckRequest;
  readonly start: () => void;
}

export class PasswordChecks {
  #running = 0;
  #waiting: readonly WaitingCheck[] = [];
  /** Number of running plus waiting checks by network. */
  readonly #networks = new Map<string, number>();

  /** Queues and runs `check`. @throws TooManyRequests if the queue is full or the network has too many checks */
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

  /** Counts the check as running immediately, so that no other check takes its slot. */
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
