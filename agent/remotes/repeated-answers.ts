import { Backoff } from '../backoff.ts';
import { RecentMap } from './recent-map.ts';

/** The second repeated answer to one command follows the first after a minute; each further wait is twice as long. */
const WAITS = { first: 60_000, longest: 3_600_000 };
/** More commands than the ledger remembers finished ones. */
const MAX_COMMANDS = 512;

/**
 * Bounds the answers to a command that arrives again: the first at once, the second a minute later, then at half the
 * rate each time, down to one an hour. A replayed command otherwise fills the disk and the connection with answers.
 */
export class RepeatedAnswers {
  readonly #waits = new RecentMap<{ readonly until: number; readonly waits: Backoff }>(MAX_COMMANDS);

  /** Whether a command that arrives again at `at` (monotonic ms) gets its answer again. */
  due(id: string, at: number): boolean {
    const last = this.#waits.get(id);
    return last === undefined || at >= last.until;
  }

  /** The answer was given again at `at` (monotonic ms). */
  given(id: string, at: number): void {
    const waits = this.#waits.get(id)?.waits ?? new Backoff(WAITS);
    this.#waits.set(id, { until: at + waits.next(), waits });
  }
}
