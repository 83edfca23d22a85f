import { Backoff } from '../backoff.ts';
import { RecentMap } from './recent-map.ts';

/** Delays in ms between repeated answers to one command: a minute after the first, then each twice as long. */
const WAITS = { first: 60_000, longest: 3_600_000 };
/** Number of commands remembered: more than the ledger's finished ones. */
const MAX_COMMANDS = 512;

/**
 * Limits the answers to a repeated command: the first at once, the second a minute later, then at half the previous
 * rate, down to one an hour. Otherwise a replayed command would fill the disk and the connection with answers.
 */
export class RepeatedAnswers {
  readonly #waits = new RecentMap<{ readonly until: number; readonly waits: Backoff }>(MAX_COMMANDS);

  /** Returns true if a command that is repeated at `at` (monotonic ms) gets its answer again. */
  due(id: string, at: number): boolean {
    const last = this.#waits.get(id);
    return last === undefined || at >= last.until;
  }

  /** Call when the answer was sent again at `at` (monotonic ms). */
  given(id: string, at: number): void {
    const waits = this.#waits.get(id)?.waits ?? new Backoff(WAITS);
    this.#waits.set(id, { until: at + waits.next(), waits });
  }
}
