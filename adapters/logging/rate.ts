import type { Log, LogEvent, LogLevel, LogSink } from '../../protocol/log-events.ts';

interface Seen {
  /** Start of the window in monotonic ms. */
  since: number;
  count: number;
  level: LogLevel;
}

/** Maximum number of lines of one event within {@link WINDOW}. */
export const LINES = 10;
/** Length of a window in ms. */
export const WINDOW = 60_000;

/**
 * Writes {@link LINES} lines of one event within {@link WINDOW} and only counts further ones. Uses no timer, so that a
 * sleeping unit stays asleep: the count is written by the next line of any event after the window, or by `flush`.
 */
export class RateLimitedLog implements Log {
  readonly #log: LogSink;
  readonly #monotonic: () => number;
  readonly #seen = new Map<LogEvent, Seen>();
  #looked = Number.NEGATIVE_INFINITY;

  /** @param monotonic returns the ms of a clock that is never set */
  constructor(log: LogSink, monotonic: () => number) {
    this.#log = log;
    this.#monotonic = monotonic;
  }

  readonly info: Log['info'] = (event, fields) => this.#write('info', event, fields);
  readonly warn: Log['warn'] = (event, fields) => this.#write('warn', event, fields);
  readonly error: Log['error'] = (event, fields) => this.#write('error', event, fields);

  /** Reports the lines that have been suppressed so far. */
  flush(): void {
    for (const [event, seen] of this.#seen) this.#logCount(event, seen);
    this.#seen.clear();
  }

  #write(level: LogLevel, event: LogEvent, fields: Record<string, unknown> | undefined): void {
    const now = this.#monotonic();
    this.#look(now);
    const seen = this.#seen.get(event) ?? { since: now, count: 0, level };
    this.#seen.set(event, seen);
    seen.level = level;
    if (++seen.count <= LINES) this.#log[level](event, fields);
  }

  /** Writes the counts of windows that have ended. Checks at most once a second. */
  #look(now: number): void {
    if (now - this.#looked < 1_000) return;
    this.#looked = now;
    for (const [event, seen] of this.#seen) {
      if (now - seen.since < WINDOW) continue;
      this.#seen.delete(event);
      this.#logCount(event, seen);
    }
  }

  #logCount(event: LogEvent, { count, level }: Seen): void {
    if (count > LINES) this.#log[level](event, { suppressed: count - LINES });
  }
}
