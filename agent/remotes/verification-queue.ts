import type { OpenedCommand } from '../../protocol/command.ts';
import type { Clock, Log } from '../ports.ts';

/** Messages that are taken apart in a second; more are dropped. */
const MESSAGES = 1_000;
/** Commands that wait at most, and their bytes. */
const WAITING = 1_000;
const BYTES = 2 ** 20;
/** Commands that find no place and are verified in a second all the same, to be answered; more are dropped. */
const REFUSED = 200;

/** Verifies a command and carries it out, or, when `crowded`, answers only that too many wait. */
export type TakeCommand = (command: OpenedCommand, correlation: Uint8Array | undefined, crowded: boolean) => void;

export interface VerificationParts {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly log: Log;
  /** Commands that are verified in a second. */
  readonly rate: number;
  readonly take: TakeCommand;
}

interface Waiting {
  readonly command: OpenedCommand;
  readonly correlation: Uint8Array | undefined;
  readonly bytes: number;
}

/**
 * Commands that came and are not verified yet. Verification costs most of what a stranger can cause, so its rate is
 * bounded; what comes faster waits, so that a burst of genuine commands is answered to the last. First come, first served.
 */
export class VerificationQueue {
  readonly #parts: VerificationParts;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #second = { number: 0, messages: 0, verified: 0, refused: 0, dropped: 0 };
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(parts: VerificationParts) {
    this.#parts = parts;
  }

  /** Commands that wait. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Counts a message; false when so many came within this second that it is dropped. */
  admits(): boolean {
    const second = this.#now();
    if (++second.messages <= MESSAGES) return true;
    second.dropped++;
    return false;
  }

  /** A command that claims to be signed by a key the car trusts; `bytes` long. */
  put(command: OpenedCommand, correlation: Uint8Array | undefined, bytes: number): void {
    if (this.#stopped) return;
    const second = this.#now();
    if (this.#waiting.length === 0 && second.verified < this.#parts.rate) {
      second.verified++;
      this.#parts.take(command, correlation, false);
    } else if (this.#waiting.length < WAITING && this.#bytes + bytes <= BYTES) {
      this.#waiting.push({ command, correlation, bytes });
      this.#bytes += bytes;
      this.#arm();
    } else if (second.refused < REFUSED) {
      second.refused++;
      this.#parts.take(command, correlation, true);
    } else second.dropped++;
  }

  /** Forgets what waits. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#waiting = [];
  }

  /** The count of this second. */
  #now() {
    const number = Math.floor(this.#parts.clock.monotonic() / 1000);
    if (number !== this.#second.number) {
      const { dropped } = this.#second;
      if (dropped > 0) this.#parts.log.warn('command.flood', { dropped });
      this.#second = { number, messages: 0, verified: 0, refused: 0, dropped: 0 };
    }
    return this.#second;
  }

  #arm(): void {
    const { clock } = this.#parts;
    this.#cancel ??= clock.after(1000 - (clock.monotonic() % 1000), () => {
      this.#cancel = undefined;
      this.#work();
    });
  }

  #work(): void {
    const second = this.#now();
    const due = this.#waiting.splice(0, this.#parts.rate - second.verified);
    second.verified += due.length;
    for (const { command, correlation, bytes } of due) {
      this.#bytes -= bytes;
      this.#parts.take(command, correlation, false);
    }
    if (this.#waiting.length > 0) this.#arm();
  }
}
