import type { Clock } from './ports.ts';

/** So long recorders wait until they are asked, ms; shorter than it takes until a group is committed. */
const SPARED = 50;

/** Messages made since the start: states of commands, and all others. */
export interface Made {
  readonly remote: number;
  readonly other: number;
}

/**
 * Which commits recorders are asked for their state. One that has states of commands, and no other message, says of the
 * recorders what the one before said: that is consistent, and the answer to a command need not wait until they are
 * asked. Their turn comes with the next group.
 */
export class RecorderTurns {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** What had been made when they were asked last. */
  #asked: Made = { remote: 0, other: 0 };
  /** Since when their turn is owed to them, monotonic ms. */
  #owed: number | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether this commit goes without them; then another has to come soon. */
  spared(made: Made): boolean {
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
