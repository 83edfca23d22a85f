import type { Log } from '../../agent/ports.ts';

export type Level = 'info' | 'warn' | 'error' | 'silent';
const ranks: Record<Level, number> = { info: 0, warn: 1, error: 2, silent: 3 };

/** Writes one line an event: for people on a terminal, NDJSON otherwise. */
export class StreamLog implements Log {
  readonly #stream: NodeJS.WriteStream;
  readonly #rank: number;

  constructor(stream: NodeJS.WriteStream, level: Level) {
    this.#stream = stream;
    this.#rank = ranks[level];
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

  #write(level: 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown> = {}): void {
    if (ranks[level] < this.#rank) return;
    const at = new Date();
    if (!this.#stream.isTTY) {
      this.#stream.write(`${JSON.stringify({ at: at.getTime(), level, event, ...fields })}\n`);
      return;
    }
    const details = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join('');
    this.#stream.write(`${at.toISOString().slice(11, 19)} ${level.padEnd(5)} ${event}${details}\n`);
  }
}
