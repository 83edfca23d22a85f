/** A system program that runs during a test and never outlives it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { findPeer } from './peers.ts';

export interface DaemonOptions {
  /** Name for {@link findPeer}, or a full path. */
  readonly program: string;
  readonly arguments: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Output line, on either stream, that shows that it listens. */
  readonly ready: RegExp;
}

export class Daemon {
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** Resolves when it is ready. Rejects with its output if it ends first. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const program = options.program.includes('/') ? options.program : findPeer(options.program);
    if (program === undefined) throw new Error(`${options.program} is not installed; run scripts/install-peers.sh`);
    // A separate process group, so that a start script and its children are ended together.
    const child = spawn(program, options.arguments, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, ...options.environment },
    });
    const daemon = new Daemon(child);
    // An interrupted run leaves no process behind.
    const kill = (): void => daemon.signal('SIGKILL');
    const interrupted = (signal: NodeJS.Signals): void => {
      kill();
      release();
      process.kill(process.pid, signal);
    };
    const release = (): void => {
      process.off('exit', kill).off('SIGINT', interrupted).off('SIGTERM', interrupted);
    };
    process.once('exit', kill).once('SIGINT', interrupted).once('SIGTERM', interrupted);
    child.once('exit', release);
    const words: string[] = [];
    await new Promise<void>((resolve, reject) => {
      for (const input of [child.stdout, child.stderr]) {
        createInterface({ input }).on('line', (line) => {
          if (words.length < 1000) words.push(line);
          if (options.ready.test(line)) resolve();
        });
      }
      child.on('error', reject);
      child.on('close', () => reject(new Error(`${options.program} did not start:\n${words.join('\n')}`)));
    });
    return daemon;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get ended(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Sends a signal to the program and its children. */
  signal(signal: NodeJS.Signals): void {
    if (this.ended) return;
    try {
      process.kill(-this.pid, signal);
    } catch (error) {
      // It has just ended.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  /** Resolves when it is gone. */
  async end(signal: 'SIGINT' | 'SIGTERM' | 'SIGQUIT' | 'SIGKILL'): Promise<void> {
    if (this.ended) return;
    const exit = once(this.#process, 'exit');
    this.signal(signal);
    // A stopped process handles SIGTERM only after it continues.
    this.signal('SIGCONT');
    await exit;
  }
}

/** Different loopback ports that are free at this time. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
    return address.port;
  });
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/**
 * Retries with other ports, because another program may take a free port before it is used.
 * @param start begins to listen on `count` ports, or throws
 */
export async function withFreePorts<T>(count: number, start: (ports: readonly number[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const ports = await freePorts(count);
    try {
      return await start(ports);
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}
