import { type Log, type LogEvent, type LogLevel, logEvents } from '../../protocol/log-events.ts';
import { redacted } from './redact.ts';

export type Level = LogLevel | 'silent';
const ranks: Record<Level, number> = { info: 0, warn: 1, error: 2, silent: 3 };

/** Writes one line per event: readable text on a terminal, NDJSON otherwise. */
export class StreamLog implements Log {
  readonly #stream: NodeJS.WriteStream;
  readonly #rank: number;

  constructor(stream: NodeJS.WriteStream, level: Level) {
    this.#stream = stream;
    this.#rank = ranks[level];
  }

  readonly info: Log['info'] = (event, fields) => this.#write('info', event, fields);
  readonly warn: Log['warn'] = (event, fields) => this.#write('warn', event, fields);
  readonly error: Log['error'] = (event, fields) => this.#write('error', event, fields);

  #write(level: LogLevel, event: LogEvent, fields: Record<string, unknown> = {}): void {
    if (ranks[level] < this.#rank) return;
    const at = new Date();
    const [, message] = logEvents[event];
    const shown = redacted(fields);
    if (!this.#stream.isTTY) {
      this.#stream.write(`${JSON.stringify({ at: at.getTime(), level, event, ...shown, message })}\n`);
      return;
    }
    const details = Object.entries(shown)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join('');
    this.#stream.write(
      `${at.toISOString().slice(11, 19)} ${level.padEnd(5)} ${printable(`${message} [${event}]${details}`)}\n`,
    );
  }
}

/** Escapes control characters, because external text must not control the terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => (character === '\n' ? '\n' : '\ufffd'));
}
