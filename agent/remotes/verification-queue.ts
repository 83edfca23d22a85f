import type { OpenedCommand } from '../../protocol/command.ts';
import { hex } from '../../protocol/hex.ts';
import type { Clock, Log } from '../ports.ts';
import type { CheckBudget } from './check-budget.ts';
import { RecentMap } from './recent-map.ts';

/** Number of messages per second that are parsed; the agent drops more. */
const MAX_MESSAGES = 2_000;
const MAX_WAITING = 1_000;
const MAX_WAITING_BYTES = 2 ** 20;
/** Number of commands per second that exceed the queue but are still verified, to be answered. */
const MAX_CROWDED = 200;
/** Number of late commands per second that are verified, only to be answered. */
const MAX_LATE = 5;
/** Time after a wrong signature in which commands that exceed the queue are dropped instead of refused. */
const FLOOD_MS = 10_000;
/** Interval at which waiting commands are verified. */
const SLICE_MS = 100;
const LOG_INTERVAL_MS = 60_000;
/** Number of counters for which the agent stores how many wrong signatures arrived with them. */
const MAX_COUNTERS = 1_024;

/** Facts about one message, found by its bytes. */
export interface SeenMessage {
  /** How often it arrived. */
  copies: number;
  waiting: boolean;
  verdict: 'authentic' | 'forged' | undefined;
}

/** A command that claims to be signed by a key the car trusts. */
export interface UnverifiedCommand {
  readonly opened: OpenedCommand;
  readonly correlation: Uint8Array | undefined;
  /** Length of the message in bytes. */
  readonly bytes: number;
  readonly seen: SeenMessage;
  /** True if its own times make it fail: it is verified only to be answered. */
  readonly late: boolean;
}

interface VerificationParts {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly log: Log;
  readonly budget: CheckBudget;
  /** Checks the signature, which is the expensive part. */
  readonly verify: (candidate: UnverifiedCommand) => boolean;
  /** Carries out an authentic command or, when `crowded`, answers only that too many are queued. */
  readonly take: (candidate: UnverifiedCommand, crowded: boolean) => void;
}

interface Waiting extends UnverifiedCommand {
  readonly counter: string;
}

/**
 * Commands that are not verified yet. Verification is the highest cost that a stranger can cause. Its rate is bounded
 * ({@link CheckBudget}), and the order of checks is chosen so that forged messages delay valid ones least:
 *
 * - Every other check goes to the counter with the fewest wrong signatures so far: forged messages with few counters
 *   use up only the checks of these counters.
 * - The other checks go to the message that arrived most often, byte for byte: to stay ahead of a command that its
 *   sender repeats, a forger must repeat each of its messages as often, so that it can present fewer of them.
 *
 * Among equals, first come, first served.
 */
export class VerificationQueue {
  readonly #parts: VerificationParts;
  /** Oldest first. */
  #waiting: Waiting[] = [];
  #bytes = 0;
  #second = { number: 0, messages: 0, late: 0, crowded: 0 };
  #dropped = 0;
  #logFrom = Number.NEGATIVE_INFINITY;
  /** Wrong signatures by key and counter. */
  readonly #wrong = new RecentMap<number>(MAX_COUNTERS);
  #lastWrong = Number.NEGATIVE_INFINITY;
  #byCopies = false;
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(parts: VerificationParts) {
    this.#parts = parts;
  }

  /** Number of waiting commands. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Counts a message. Returns false if it exceeds the limit of this second and is dropped. */
  admits(): boolean {
    if (++this.#now().messages <= MAX_MESSAGES) return true;
    this.#dropped++;
    return false;
  }

  /** Adds a command. A copy of a waiting message only raises its rank. */
  put(candidate: UnverifiedCommand): void {
    if (this.#stopped || candidate.seen.waiting) return;
    const { keyId, command } = candidate.opened;
    const waiting = { ...candidate, counter: `${hex(keyId)}:${command.counter}` };
    if (this.#waiting.length === 0 && this.#mayVerify(waiting)) {
      this.#verify(waiting, false);
      return;
    }
    waiting.seen.waiting = true;
    this.#waiting.push(waiting);
    this.#bytes += waiting.bytes;
    while (this.#waiting.length > MAX_WAITING || this.#bytes > MAX_WAITING_BYTES) this.#refuseLast();
    if (this.#waiting.length > 0) this.#arm();
  }

  /** Removes all waiting commands and accepts no more. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#waiting = [];
  }

  /** Returns the counts of this second. */
  #now() {
    const at = this.#parts.clock.monotonic();
    const number = Math.floor(at / 1000);
    if (number !== this.#second.number) {
      this.#second = { number, messages: 0, late: 0, crowded: 0 };
      if (this.#dropped > 0 && at >= this.#logFrom) {
        this.#parts.log.warn('command.flood', { dropped: this.#dropped });
        this.#dropped = 0;
        this.#logFrom = at + LOG_INTERVAL_MS;
      }
    }
    return this.#second;
  }

  #mayVerify({ late }: UnverifiedCommand): boolean {
    return (!late || this.#now().late < MAX_LATE) && this.#parts.budget.allows();
  }

  #verify(candidate: Waiting, crowded: boolean): void {
    const { budget, verify, take, clock } = this.#parts;
    if (candidate.late) this.#now().late++;
    if (budget.spend(() => verify(candidate))) take(candidate, crowded);
    else {
      this.#lastWrong = clock.monotonic();
      this.#wrong.set(candidate.counter, this.#wrongOf(candidate) + 1);
    }
  }

  /** Removes the last command in the order, which exceeds the queue. The sender gets an answer unless a flood is on. */
  #refuseLast(): void {
    const last = this.#remove(this.#first((a, b) => (this.#compare(a, b, true) >= 0 ? -1 : 1)));
    const second = this.#now();
    const flood = this.#parts.clock.monotonic() - this.#lastWrong < FLOOD_MS;
    if (flood || second.crowded >= MAX_CROWDED) {
      this.#dropped++;
      return;
    }
    second.crowded++;
    this.#verify(last, true);
  }

  #arm(): void {
    this.#cancel ??= this.#parts.clock.after(SLICE_MS, () => {
      this.#cancel = undefined;
      this.#now();
      while (this.#waiting.length > 0) {
        const index = this.#first((a, b) => this.#compare(a, b, this.#byCopies));
        if (!this.#mayVerify(this.#waiting[index] as Waiting)) break;
        this.#byCopies = !this.#byCopies;
        this.#verify(this.#remove(index), false);
      }
      if (this.#waiting.length > 0 && !this.#stopped) this.#arm();
    });
  }

  /** Returns the index of the first command in the order of `compare`; among equals the oldest. */
  #first(compare: (a: Waiting, b: Waiting) => number): number {
    let best = 0;
    for (let index = 1; index < this.#waiting.length; index++) {
      if (compare(this.#waiting[index] as Waiting, this.#waiting[best] as Waiting) < 0) best = index;
    }
    return best;
  }

  #compare(a: Waiting, b: Waiting, byCopies: boolean): number {
    const late = Number(a.late) - Number(b.late);
    const copies = b.seen.copies - a.seen.copies;
    const wrong = this.#wrongOf(a) - this.#wrongOf(b);
    return late || (byCopies ? copies || wrong : wrong || copies);
  }

  #remove(index: number): Waiting {
    const [removed] = this.#waiting.splice(index, 1) as [Waiting];
    removed.seen.waiting = false;
    this.#bytes -= removed.bytes;
    return removed;
  }

  #wrongOf({ counter }: Waiting): number {
    return this.#wrong.get(counter) ?? 0;
  }
}
