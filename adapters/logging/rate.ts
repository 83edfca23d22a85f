import type { Log } from '../../agent/ports.ts';

type Level = 'info' | 'warn' | 'error';

interface Seen {
  /** Monotonic ms. */
  since: number;
  count: number;
  level: Level;
}

/** Lines of one event that are written within {@link WINDOW}. */
export const LINES = 10;
/** ms */
export const WINDOW = 60_000;
/** Events that are told apart; of more, those heard of longest ago are forgotten. */
const EVENTS = 256;

/**
 * Lets so many lines of one event through and then says how many it kept back. It has no timer, so that a unit that
 * sleeps goes on sleeping: the count is told with the next line of any event after the time, and by `flush`.
 */
export class RateLimitedLog implements Log {
  readonly #log: Log;
  readonly #monotonic: () => number;
  readonly #seen = new Map<string, Seen>();
  #looked = Number.NEGATIVE_INFINITY;

  /** `monotonic`: milliseconds that never step. */
  constructor(log: Log, monotonic: () => number) {
    this.#log = log;
    this.#monotonic = monotonic;
  }

  info(event: string, fields?: Record<string, unknown>): void {
    this.#write('info', event, fields);
  }

  warn(event: string, fields?: Record<string, unknown>): void {
    this.#write('warn', event, fields);
  }

  error(event: string, fields?: Record<string, unknown>): void {
    this.#write('error', event, fields);
  }

  /** Tells what was kept back so far. */
  flush(): void {
    for (const [event, seen] of this.#seen) this.#tell(event, seen);
    this.#seen.clear();
  }

  #write(level: Level, event: string, fields: Record<string, unknown> | undefined): void {
    const now = this.#monotonic();
    this.#look(now);
    const seen = this.#seen.get(event) ?? { since: now, count: 0, level };
    this.#seen.set(event, seen);
    seen.level = level;
    if (++seen.count <= LINES) this.#log[level](event, fields);
    if (this.#seen.size > EVENTS) this.#forgetOldest();
  }

  /** Windows that have ended are told and forgotten; looked for at most once a second. */
  #look(now: number): void {
    if (now - this.#looked < 1_000) return;
    this.#looked = now;
    for (const [event, seen] of this.#seen) {
      if (now - seen.since < WINDOW) continue;
      this.#seen.delete(event);
      this.#tell(event, seen);
    }
  }

  #forgetOldest(): void {
    for (const [event, seen] of this.#seen) {
      this.#seen.delete(event);
      this.#tell(event, seen);
      return;
    }
  }

  #tell(event: string, { count, level }: Seen): void {
    if (count > LINES) this.#log[level](event, { suppressed: count - LINES });
  }
}
