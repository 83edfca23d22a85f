import type { Log } from '../agent/ports.ts';

/** A renewal waits for the network no longer, ms. */
const TIMEOUT = 120_000;

/** The first words of `vigie enroll --renew` for a certificate that is not renewed yet. */
export const NOT_DUE = 'not due';

/** Runs `vigie enroll --renew` and the like in a process of its own, and logs what it said. */
export function renewalProgram(log: Log): (words: readonly string[]) => void {
  return (words) => {
    void run(words).then(
      (said) => log.info(said.startsWith(NOT_DUE) ? 'link.renewal.notDue' : 'link.renewal.done', { said }),
      (error: Error) => log.warn('link.renewal.failed', { error: error.message }),
    );
  };
}

/** Arguments for the executable of this process, so that it runs this program with these words. */
export function ownProgram(words: readonly string[]): string[] {
  // In the executable there is no script: it is the program itself.
  const address: string | undefined = import.meta.url;
  const [, script = ''] = process.argv;
  return address === undefined ? [...words] : [...process.execArgv, script, ...words];
}

async function run(words: readonly string[]): Promise<string> {
  // Not in the memory of a car that renews nothing.
  const { execFile } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ownProgram(words), { timeout: TIMEOUT }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.trim());
      else reject(new Error(stderr.trim().slice(0, 500) || error.message));
    });
  });
}
