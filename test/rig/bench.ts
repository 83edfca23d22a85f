import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ended, runsWithin, runWithin } from './command-line.ts';

/** The program that tests start: bundled once per run (test/rig/run.ts), or from its sources outside of a run. */
export const program: string = process.env['TEST_PROGRAM'] ?? fileURLToPath(new URL('../../main.ts', import.meta.url));

// Compile cache between starts, as in scripts/vigie.js. It is not set in the runner's environment, because its own
// processes would spend seconds at exit writing their compiled code.
const folder = process.env['TEST_FOLDER'];
if (folder !== undefined) process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');

/** A `vigie` process as a user starts it, with its output. */
export class VigieProcess {
  output = '';
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #listeners = new Set<() => void>();

  /** `another`: a program other than {@link program}. `inside`: a command prefix, such as `strace`. */
  constructor(args: readonly string[], another = program, inside: readonly string[] = []) {
    const [command = '', ...words] = [...inside, process.execPath, another, ...args];
    this.#child = spawn(command, words, { stdio: 'pipe' });
    this.#exit = once(this.#child, 'exit');
    // A killed program reads no more.
    this.#child.stdin?.on('error', () => undefined);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
        for (const listener of this.#listeners) listener();
      });
    }
  }

  /** Resolves when the output contains this text after `from` characters. Rejects if the process ends first. */
  async says(text: string | RegExp, from = 0): Promise<void> {
    const said = (): boolean => {
      const since = this.output.slice(from);
      return typeof text === 'string' ? since.includes(text) : text.test(since);
    };
    if (said()) return;
    const heard = new Promise<void>((resolve) => {
      const listener = (): void => {
        if (!said()) return;
        this.#listeners.delete(listener);
        resolve();
      };
      this.#listeners.add(listener);
    });
    const ended = this.#exit.then(() => {
      if (!said()) throw new Error(`vigie ended without saying ${text}:\n${this.output}`);
    });
    await Promise.race([heard, ended]);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Writes to its standard input. */
  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Ends its standard input. */
  endInput(): void {
    this.#child.stdin?.end();
  }

  /** Sends a signal. Resolves with the exit status, or with null if the signal ended the process. */
  async end(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal);
    return this.ended();
  }

  /** Resolves with the exit status when the process has ended. */
  async ended(): Promise<number | null> {
    await this.#exit;
    return this.#child.exitCode;
  }
}

/** Runs `vigie` to its end. A command that starts no processes or servers runs within this process. */
export async function vigie(...args: string[]): Promise<Ended> {
  if (runsWithin(args)) return runWithin(args);
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, stdout, stderr };
}
