import type { Log } from '../agent/ports.ts';

/** Longest duration in ms of a renewal, including the network. */
const TIMEOUT = 120_000;

/** First words that `vigie enroll --renew` prints if a certificate needs no renewal yet. */
export const NOT_DUE = 'not due';

/** Runs commands such as `vigie enroll --renew` in a separate process, and logs their output. */
export function renewalProgram(log: Log): (words: readonly string[]) => void {
  return (words) => {
    void run(words).then(
      (said) => log.info(said.startsWith(NOT_DUE) ? 'link.renewal.notDue' : 'link.renewal.done', { said }),
      (error: Error) => log.warn('link.renewal.failed', { error: error.message }),
    );
  };
}

/** Returns the arguments that make the executable of this process run this program with `words`. */
export function ownProgram(words: readonly string[]): string[] {
  // A single executable has no script: it is the program itself.
  const address: string | undefined = import.meta.url;
  const [, script = ''] = process.argv;
  return address === undefined ? [...words] : [...process.execArgv, script, ...words];
}

async function run(words: readonly string[]): Promise<string> {
  // Loaded only here, to save memory in a car that renews nothing.
  const { execFile } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ownProgram(words), { timeout: TIMEOUT }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.trim());
      else reject(new Error(stderr.trim().slice(0, 500) || error.message));
    });
  });
}
