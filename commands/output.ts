import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { type Diagnostic, formatDiagnostic } from '../protocol/diagnostic.ts';

export type Format = 'ndjson' | 'text';

/** NDJSON for programs, text for people: the requested form, or by the kind of standard output. */
export function formatOf(asked: string | undefined): Format {
  if (asked === 'ndjson' || asked === 'text') return asked;
  return process.stdout.isTTY ? 'text' : 'ndjson';
}

/** Lines to standard output in large pieces, at the pace of the reader. */
export class Lines {
  readonly #pieces: string[] = [];
  /** Characters that wait. */
  size = 0;

  line(text: string): void {
    this.#pieces.push(text, '\n');
    this.size += text.length;
  }

  /** True when enough is gathered that `flush` should be awaited. */
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
      // `guardOutput` handles a reader that has left.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
  }
}

let unread = (): void => process.exit(0);

/** Handler for a reader of standard output that has left. Without it the program ends at once. */
export function whenUnread(stop: () => void): void {
  unread = stop;
}

/** For commands with an exit status as answer: they run to their end although standard output has no reader. */
export function finishUnread(): void {
  whenUnread(() => undefined);
}

/**
 * A reader that has seen enough (`vigie decode … | head`) ends the program without complaint. If standard error has no
 * reader, the program goes on.
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

/** Advice when the system refuses a file or folder. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free space on it',
  EDQUOT: 'the quota of this user on that disk is used up: free space on it',
  EROFS: 'the file system is read-only: mount it for writing',
  EACCES: RIGHTS,
  EPERM: RIGHTS,
};

/** Ports and processes are refused with EACCES and EPERM too, for other reasons. */
const FILE_CALL =
  /^(access|copyfile|f?chmod|f?chown|f?(data)?sync|f?truncate|l?stat|(mk|rm)dir|open|rename|scandir|unlink|write)$/;

/**
 * A line of advice on an error that the file system caused, empty on any other error.
 * @param option with which a person names another folder
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

/** Findings to standard error, in the clickable form. */
export function complain(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) process.stderr.write(`${formatDiagnostic(diagnostic)}\n`);
}

export interface ProgressBar {
  update(done: number, frames: number): void;
  stop(): void;
}

/**
 * A progress bar on a terminal, nothing elsewhere. While lines are `printed`, it is drawn only where they go into a
 * file: drawn into lines on the same terminal, it makes both unreadable.
 */
export async function progressBar(total: number, printed = true): Promise<ProgressBar> {
  if (!process.stderr.isTTY || total === 0 || (printed && !goesIntoFile())) {
    return { update: () => undefined, stop: () => undefined };
  }
  // A module in CommonJS: bundled it has nothing but its default export.
  const { default: progress } = await import('cli-progress');
  const bar = new progress.SingleBar({
    format: '{bar} {percentage}% | {frames} frames | {eta_formatted} left',
    stream: process.stderr,
    // Ctrl-C ends the program where it stands: the terminal must not need mending then.
    hideCursor: false,
    linewrap: true,
    clearOnComplete: true,
  });
  bar.start(total, 0, { frames: 0 });
  return { update: (done, frames) => bar.update(done, { frames }), stop: () => bar.stop() };
}

/** False for a terminal, and for a pipe: what reads that may print on the terminal. */
function goesIntoFile(): boolean {
  const output = fstatSync(1);
  return !process.stdout.isTTY && !output.isFIFO() && !output.isSocket();
}
