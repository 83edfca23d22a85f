/** Commands that a car must answer, and messages that it must not send again. */

/** Maximum time for an answer of the car, ms. */
const ANSWERED = 20_000;
/** Number of late commands that a car verifies in that time (docs/commands.md). */
const LATE_VERIFIED = 100;
/** Time after which the operating system has the record of an acknowledgement, ms. */
const REMOVED = 5_000;
/** Number of later commands of the same key after which a command gets no answer (docs/commands.md). */
const REMEMBERED = 512;

export interface CameCommand {
  readonly id: string;
  readonly keyId: string;
  readonly counter: number;
}

/** Commands signed by a key that the car certainly trusted: each gets a report, whatever its outcome. */
export class AwaitedAnswers {
  /** World times in this run, by command id. */
  #came = new Map<string, number>();
  readonly #overdue = new Set<string>();
  readonly #reported = new Set<string>();
  /** Counters of received commands, by key. */
  readonly #counters = new Map<string, Set<number>>();
  /** Number of forged commands in this run. */
  #forged = 0;

  forged(): void {
    this.#forged++;
  }

  /** @param isLate whether the car's clock shows that the command has expired */
  came({ id, keyId, counter }: CameCommand, now: number, isLate: boolean): void {
    const counters = this.#counters.get(keyId) ?? new Set();
    this.#counters.set(keyId, counters.add(counter));
    if ([...counters].filter((other) => other > counter).length >= REMEMBERED) return;
    // A late command waits after all others, which may leave no place for it, or end with the run.
    if (isLate && this.#forged > LATE_VERIFIED) return;
    if (!this.#reported.has(id) && !this.#came.has(id)) this.#came.set(id, now);
  }

  reported(id: string): void {
    this.#reported.add(id);
    this.#came.delete(id);
    this.#overdue.delete(id);
  }

  /** The run or the world has ended. `excused`: the disk refused a write during the run. */
  ended(now: number, excused: boolean): void {
    for (const [id, at] of this.#came) if (!excused && now - at > ANSWERED) this.#overdue.add(id);
    this.#came = new Map();
    this.#forged = 0;
  }

  /** Commands without an answer. */
  get missing(): readonly string[] {
    return [...this.#overdue];
  }
}

/** Messages acknowledged before the program was killed. The car must know of them afterwards. */
export class AcknowledgedMessages {
  /** World times in this run, by class, number and start. */
  #acknowledged = new Map<string, number>();
  readonly #kept = new Set<string>();

  acknowledged(key: string, now: number): void {
    this.#acknowledged.set(key, now);
  }

  /** The program was killed, or the power failed, after which acknowledgements may be lost. */
  ended(now: number, power: boolean, excused: boolean): void {
    if (power) this.#kept.clear();
    else if (!excused) for (const [key, at] of this.#acknowledged) if (now - at > REMOVED) this.#kept.add(key);
    this.#acknowledged = new Map();
  }

  /** Whether the message must not be sent again. */
  has(key: string): boolean {
    return this.#kept.has(key);
  }
}
