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
  /** By command id: the world time in this run, and the key if the command was late. */
  #came = new Map<string, { readonly at: number; readonly lateOf?: string | undefined }>();
  readonly #overdue = new Set<string>();
  readonly #reported = new Set<string>();
  /** Counters of received commands, by key. */
  readonly #counters = new Map<string, Set<number>>();
  /** Number of forged commands in this run. */
  #forged = 0;

  forged(): void {
    this.#forged++;
    // They may leave no place for a late command, which waits after all others.
    if (this.#forged > LATE_VERIFIED) for (const [id, { lateOf }] of this.#came) if (lateOf) this.#came.delete(id);
  }

  /** @param isLate whether the car's clock shows that the command has expired */
  came({ id, keyId, counter }: CameCommand, now: number, isLate: boolean): void {
    const counters = this.#counters.get(keyId) ?? new Set();
    this.#counters.set(keyId, counters.add(counter));
    if ([...counters].filter((other) => other > counter).length >= REMEMBERED) return;
    if (isLate && this.#forged > LATE_VERIFIED) return;
    if (!this.#reported.has(id) && !this.#came.has(id))
      this.#came.set(id, { at: now, lateOf: isLate ? keyId : undefined });
  }

  /** The car may no longer trust a key: late commands of it that wait for their verification get no answer. */
  revoked(keyId: string): void {
    for (const [id, { lateOf }] of this.#came) if (lateOf === keyId) this.#came.delete(id);
  }

  reported(id: string): void {
    this.#reported.add(id);
    this.#came.delete(id);
    this.#overdue.delete(id);
  }

  /** The run or the world has ended. `excused`: the disk refused a write during the run. */
  ended(now: number, excused: boolean): void {
    for (const [id, { at }] of this.#came) if (!excused && now - at > ANSWERED) this.#overdue.add(id);
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
