/** Finds out why the previous run ended, from its own report or from the service manager's result. */

import { rmSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { contentsOf } from './generation-files.ts';

/** Name of the file that contains a run's crash report. */
const FATAL = 'fatal.json';
/** Name of the file in which the unit's `ExecStopPost` stores `$SERVICE_RESULT $EXIT_CODE $EXIT_STATUS`. */
const ENDED = 'ended';
/** Descriptions of service results by their names in systemd.exec(5). */
const RESULTS: Readonly<Record<string, string>> = {
  watchdog: 'the watchdog was not fed',
  'oom-kill': 'it was killed for its memory',
  signal: 'it was killed',
  'core-dump': 'it crashed',
  timeout: 'it did not start or stop in time',
  'exit-code': 'it ended with an error',
};

/** Makes an error that ends this process write a crash report. Returns a function that disables this. */
export function writeCrashReports(directory: string): () => void {
  const note = (error: unknown): void => writeFatal(directory, error);
  process.on('uncaughtExceptionMonitor', note);
  return () => {
    process.off('uncaughtExceptionMonitor', note);
  };
}

export function writeFatal(directory: string, error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const words = JSON.stringify({ at: Date.now(), error: message, stack: stack?.split('\n').slice(0, 12) });
  try {
    writeFileSync(join(directory, FATAL), `${words}\n`, { mode: 0o640 });
  } catch (failure) {
    process.stderr.write(`vigie: the crash report could not be written: ${(failure as Error).message}\n`);
  }
}

/** Returns why the last run crashed, in one line, or undefined if that is unknown. */
export function crashReport(directory: string): string | undefined {
  const words = contentsOf(join(directory, FATAL));
  const seen = contentsOf(join(directory, ENDED));
  const [result = '', , status = ''] = (seen ?? '').trim().split(' ');
  const manager = RESULTS[result] === undefined ? undefined : `${RESULTS[result]} (${result} ${status})`.trim();
  return parseFatal(words) ?? manager;
}

/**
 * Removes the reports on the previous run, which apply only to that run. If the disk fails to remove them, writes that
 * to standard error and continues.
 */
export function removeCrashReport(directory: string): void {
  for (const name of [FATAL, ENDED]) {
    try {
      rmSync(join(directory, name), { force: true });
    } catch (error) {
      process.stderr.write(`vigie: the old crash report could not be removed: ${(error as Error).message}\n`);
    }
  }
}

function parseFatal(words: string | undefined): string | undefined {
  if (words === undefined) return undefined;
  try {
    const { error } = JSON.parse(words) as { error?: unknown };
    return typeof error === 'string' && error !== '' ? error : undefined;
  } catch (error) {
    // The process ended while it wrote the file.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns an id of the machine's current boot, and the time since boot in ms. */
export function moment(): { readonly boot: string; readonly at: number } {
  return {
    boot: contentsOf('/proc/sys/kernel/random/boot_id')?.trim() ?? 'unknown',
    at: Math.round(uptime() * 1000),
  };
}
