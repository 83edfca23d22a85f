/** JSON lines for programs, written by pino: `{"level":"warn","at":…,"event":…, fields, "message":…}`. */
import { pino } from 'pino';
import { type Log, type LogEvent, type LogLevel, logEvents } from '../../protocol/log-events.ts';
import { redacted } from './redact.ts';

/** Destination of the lines. */
interface LineSink {
  write(text: string): unknown;
}

interface StructuredOptions {
  readonly level: LogLevel | 'silent';
  /** Returns the time in UTC ms. */
  readonly now?: () => number;
  /** True if lines begin with `<priority>` (sd-daemon(3)), which the journal uses as the entry's priority. */
  readonly priorities?: boolean;
}

/** Priorities of syslog(3). */
const PRIORITY = { error: 3, warn: 4, info: 6 } as const;
/** Names that pino uses and that fields must not overwrite. */
const TAKEN = new Set(['level', 'at', 'event', 'message']);

export function structuredLog(sink: LineSink, options: StructuredOptions): Log {
  const { level, now = Date.now, priorities = false } = options;
  let prefix = '';
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"at":${Math.round(now())}`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => sink.write(prefix + line) },
  );
  const write =
    (severity: LogLevel) =>
    (event: LogEvent, fields: Record<string, unknown> = {}): void => {
      prefix = priorities ? `<${PRIORITY[severity]}>` : '';
      logger[severity]({ event, ...free(redacted(fields)) }, logEvents[event][1]);
    };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

/** Renames fields whose names pino uses, because JSON with a repeated name is not reliable. */
function free(fields: Record<string, unknown>): Record<string, unknown> {
  if (!Object.keys(fields).some((name) => TAKEN.has(name))) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [TAKEN.has(name) ? `${name}_` : name, value]),
  );
}
