import type { Clock } from './ports.ts';

/** Longest delay of a checkpoint in ms; shorter than the interval of group commits. */
const SPARED = 50;

/** Number of messages created since the start: states of commands, and all others. */
interface MessageCounts {
  readonly remote: number;
  readonly other: number;
}

/**
 * Decides which commits contain a checkpoint of the recorders. A commit with states of commands and no other message
 * repeats the previous checkpoint, which is consistent: the answer to a command need not wait for the recorders. The
 * next group contains their checkpoint.
 */
export class CheckpointPolicy {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Number of messages at the last checkpoint. */
  #asked: MessageCounts = { remote: 0, other: 0 };
  /** Due time of the oldest delayed checkpoint, monotonic ms. */
  #owed: number | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Returns true if this commit needs no checkpoint of the recorders; then another commit must follow soon. */
  spared(made: MessageCounts): boolean {
    const now = this.#clock.monotonic();
    const commandsAlone = made.other === this.#asked.other && made.remote > this.#asked.remote;
    if (commandsAlone && now - (this.#owed ?? now) < SPARED) {
      this.#owed ??= now;
      return true;
    }
    this.#asked = { ...made };
    this.#owed = undefined;
    return false;
  }
}
