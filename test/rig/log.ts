import type { Log } from '../../agent/ports.ts';

/** Keeps what was said, so that a test can ask for it. */
export class MemoryLog implements Log {
  readonly lines: { level: string; event: string; fields: Record<string, unknown> | undefined }[] = [];

  info(event: string, fields?: Record<string, unknown>): void {
    this.lines.push({ level: 'info', event, fields });
  }

  warn(event: string, fields?: Record<string, unknown>): void {
    this.lines.push({ level: 'warn', event, fields });
  }

  error(event: string, fields?: Record<string, unknown>): void {
    this.lines.push({ level: 'error', event, fields });
  }
}
