import type { Clock, Log } from '../ports.ts';
import type { Refusal } from './plan.ts';

/** Log lines per minute: a flood must not fill the log. */
const MAX_LINES = 5;
const MINUTE_MS = 60_000;

/**
 * Refusals that the sender gets no answer to: otherwise any sender could cause reports about another's command.
 * Counts all and logs the first {@link MAX_LINES} of each minute.
 */
export class RefusalLog {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Log;
  #count = 0;
  #minute = { number: -1, lines: 0 };
  /** Number of unlogged refusals since the last log line. */
  #unlogged = 0;

  constructor(clock: Pick<Clock, 'monotonic'>, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  get count(): number {
    return this.#count;
  }

  add({ code, detail }: Refusal): void {
    this.#count++;
    const number = Math.floor(this.#clock.monotonic() / MINUTE_MS);
    if (number !== this.#minute.number) this.#minute = { number, lines: 0 };
    if (++this.#minute.lines > MAX_LINES) {
      this.#unlogged++;
      return;
    }
    this.#log.warn('command.refused', {
      code,
      detail,
      ...(this.#unlogged === 0 ? {} : { unlogged: this.#unlogged }),
    });
    this.#unlogged = 0;
  }
}
