import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { type Diagnostic, formatDiagnostic } from '../protocol/diagnostic.ts';

export type Format = 'ndjson' | 'text';

/** Returns the requested format; by default text for a terminal and NDJSON for programs. */
export function formatOf(asked: string | undefined): Format {
  if (asked === 'ndjson' || asked === 'text') return asked;
  return process.stdout.isTTY ? 'text' : 'ndjson';
}

/** Writes lines to standard output in large chunks, no faster than its reader reads. */
export class Lines {
  readonly #pieces: string[] = [];
  /** Number of characters that wait. */
  size = 0;

  line(text: string): void {
    this.#pieces.push(text, '\n');
    this.size += text.length;
  }

  /** True if so many characters wait that the caller should await `flush`. */
  get full(): boolean {
    return this.size >= 64 * 1024;
  }

  async flush(): Promise<void> {
    if (this.#pieces.length === 0) return;
    const text = this.#pieces.join('');
    this.#pieces.length = 0;
    this.size = 0;
    if (process.stdout.write(text)) return;
    try {
      await once(process.stdout, 'drain');
    } catch (error) {
      // `guardOutput` handles a reader that has closed the pipe.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
  }
}

let unread = (): void => process.exit(0);

/** Sets the handler that is called when standard output is closed. Without a handler the program then ends at once. */
export function whenUnread(stop: () => void): void {
  unread = stop;
}

/** For commands whose exit status is the result: they finish even if standard output is closed. */
export function finishUnread(): void {
  whenUnread(() => undefined);
}

/**
 * Ends the program without an error when the reader of its standard output closes the pipe (`vigie decode … | head`).
 * If standard error is closed, the program continues.
 */
export function guardOutput(): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return unread();
    process.stderr.write(`vigie: standard output: ${error.message}\n${adviceOn(error)}`);
    process.exit(2);
  });
}

const RIGHTS = 'this user may not do that there: change the rights of the file or folder (chmod, chown)';

/** Advice for errors of the file system, by code. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free space on it',
  EDQUOT: 'the quota of this user on that disk is used up: free space on it',
  EROFS: 'the file system is read-only: mount it for writing',
  EACCES: RIGHTS,
  EPERM: RIGHTS,
};

/** System calls on files. EACCES and EPERM also occur for ports and processes, but for other reasons. */
const FILE_CALL =
  /^(access|copyfile|f?chmod|f?chown|f?(data)?sync|f?truncate|l?stat|(mk|rm)dir|open|rename|scandir|unlink|write)$/;

/**
 * Returns a line of advice for an error of the file system; empty for any other error.
 * @param option option with which the user selects another folder
 */
export function adviceOn(error: unknown, option?: string): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = '', syscall = '' } = cause as NodeJS.ErrnoException;
    const advice = FILE_CALL.test(syscall) ? ADVICE[code] : undefined;
    const other = option === undefined ? 'file or folder' : `folder with ${option}`;
    if (advice !== undefined) return `vigie: ${advice}, or use another ${other}\n`;
  }
  return '';
}

/** Writes findings to standard error in a format that terminals make clickable. */
export function complain(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) process.stderr.write(`${formatDiagnostic(diagnostic)}\n`);
}

export interface ProgressBar {
  update(done: number, frames: number): void;
  stop(): void;
}

/**
 * Returns a progress bar on a terminal; otherwise a bar that shows nothing. If lines are `printed`, the bar is drawn
 * only if they go to a file: on the same terminal, bar and lines would make each other unreadable.
 */
export async function progressBar(total: number, printed = true): Promise<ProgressBar> {
  if (!process.stderr.isTTY || total === 0 || (printed && !goesIntoFile())) {
    return { update: () => undefined, stop: () => undefined };
  }
  // This is a CommonJS module: when bundled, it has only its default export.
  const { default: progress } = await import('cli-progress');
  const bar = new progress.SingleBar({
    format: '{bar} {percentage}% | {frames} frames | {eta_formatted} left',
    stream: process.stderr,
    // Ctrl-C ends the program immediately, and must leave the terminal usable.
    hideCursor: false,
    linewrap: true,
    clearOnComplete: true,
  });
  bar.start(total, 0, { frames: 0 });
  return { update: (done, frames) => bar.update(done, { frames }), stop: () => bar.stop() };
}

/** Returns false if standard output is a terminal, or a pipe, whose reader may print on the terminal. */
function goesIntoFile(): boolean {
  const output = fstatSync(1);
  return !process.stdout.isTTY && !output.isFIFO() && !output.isSocket();
}
