import type { LogEvent, LogLevel, LogSink } from '../../protocol/log-events.ts';

/** Collects log lines for a test. */
export class MemoryLog implements LogSink {
  readonly lines: { level: LogLevel; event: LogEvent; fields: Record<string, unknown> | undefined }[] = [];

  info(event: LogEvent, fields?: Record<string, unknown>): void {
    this.lines.push({ level: 'info', event, fields });
  }

  warn(event: LogEvent, fields?: Record<string, unknown>): void {
    this.lines.push({ level: 'warn', event, fields });
  }

  error(event: LogEvent, fields?: Record<string, unknown>): void {
    this.lines.push({ level: 'error', event, fields });
  }
}
