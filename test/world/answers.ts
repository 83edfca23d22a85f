/** Commands that a car must answer, and messages that it must not send again. */

/** A car has answered within this, ms. */
const ANSWERED = 20_000;
/** That a message was acknowledged is with the operating system by then, ms. */
const REMOVED = 5_000;
/** After so many commands of its key with higher counters a command gets no answer (docs/commands.md). */
const REMEMBERED = 512;

export interface CameCommand {
  readonly id: string;
  readonly keyId: string;
  readonly counter: number;
}

/** Commands that came signed by a key that the car surely trusted: each gets a report, whatever becomes of it. */
export class AwaitedAnswers {
  /** Moments of the world in this run, by id. */
  #came = new Map<string, number>();
  readonly #overdue = new Set<string>();
  readonly #reported = new Set<string>();
  /** Counters of commands that have come, by key. */
  readonly #counters = new Map<string, Set<number>>();

  came({ id, keyId, counter }: CameCommand, now: number): void {
    const counters = this.#counters.get(keyId) ?? new Set();
    this.#counters.set(keyId, counters.add(counter));
    if ([...counters].filter((other) => other > counter).length >= REMEMBERED) return;
    if (!this.#reported.has(id) && !this.#came.has(id)) this.#came.set(id, now);
  }

  reported(id: string): void {
    this.#reported.add(id);
    this.#came.delete(id);
    this.#overdue.delete(id);
  }

  /** The run has ended, or the world. With `excused` the disk has refused something in it. */
  ended(now: number, excused: boolean): void {
    for (const [id, at] of this.#came) if (!excused && now - at > ANSWERED) this.#overdue.add(id);
    this.#came = new Map();
  }

  /** Commands without an answer. */
  get missing(): readonly string[] {
    return [...this.#overdue];
  }
}

/** Messages that were acknowledged before the program was killed, and that it has to know of afterwards. */
export class AcknowledgedMessages {
  /** Moments of the world in this run, by class, number and start. */
  #acknowledged = new Map<string, number>();
  readonly #kept = new Set<string>();

  acknowledged(key: string, now: number): void {
    this.#acknowledged.set(key, now);
  }

  /** The program was killed, or the power failed: then what was acknowledged may be forgotten. */
  ended(now: number, power: boolean, excused: boolean): void {
    if (power) this.#kept.clear();
    else if (!excused) for (const [key, at] of this.#acknowledged) if (now - at > REMOVED) this.#kept.add(key);
    this.#acknowledged = new Map();
  }

  /** It must not be sent again. */
  has(key: string): boolean {
    return this.#kept.has(key);
  }
}
