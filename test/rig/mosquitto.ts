/** A real Mosquitto on a free loopback port, with persistence in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { BrokerRig } from './broker.ts';
import { findPeer } from './peers.ts';

export interface MosquittoOptions {
  /** Further lines of the configuration. */
  readonly settings?: readonly string[];
  /** Lines about listening and access; default: a listener on the port, everybody may do everything. */
  readonly listener?: (port: number) => readonly string[];
}

export class MosquittoRig implements BrokerRig {
  /** Folder of configuration and persistence; tests may add files before the start. */
  readonly folder: string = mkdtempSync(join(tmpdir(), 'mosquitto-'));
  readonly #options: MosquittoOptions;
  #port = 0;
  #process: ChildProcess | undefined;

  constructor(options: MosquittoOptions = {}) {
    this.#options = options;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `mqtt://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const first = this.#port === 0;
    for (let attempt = 1; ; attempt++) {
      if (first) this.#port = await freePort();
      const fault = await this.#run();
      if (fault === undefined) return;
      // Between finding a free port and taking it another program may be quicker.
      if (!first || attempt === 5) throw new Error(`mosquitto did not start:\n${fault}`);
    }
  }

  /** SIGTERM: it saves what it keeps and ends its connections. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Lets it hang: connections stay, nothing is answered. */
  hang(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Resolves with undefined when it listens, with its words when it ended. */
  async #run(): Promise<string | undefined> {
    const program = findPeer('mosquitto');
    if (program === undefined) throw new Error('mosquitto is not installed; run scripts/install-peers.sh as root');
    const file = join(this.folder, 'mosquitto.conf');
    writeFileSync(file, `${this.#configuration().join('\n')}\n`);
    const broker = spawn(program, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#process = broker;
    // A test run that is ended early leaves no broker behind.
    const kill = (): boolean => broker.kill('SIGKILL');
    process.once('exit', kill);
    broker.once('exit', () => process.off('exit', kill));
    const words: string[] = [];
    return new Promise((resolve, reject) => {
      const lines = createInterface({ input: broker.stderr });
      lines.on('line', (line) => {
        words.push(line);
        if (/mosquitto version \S+ running/.test(line)) resolve(undefined);
      });
      lines.on('close', () => resolve(words.join('\n')));
      broker.on('error', reject);
    });
  }

  #configuration(): readonly string[] {
    const { listener = (port) => [`listener ${port} 127.0.0.1`, 'allow_anonymous true'], settings = [] } =
      this.#options;
    return [
      ...listener(this.#port),
      'persistence true',
      `persistence_location ${this.folder}/`,
      'log_dest stderr',
      'set_tcp_nodelay true',
      // Started as root it would otherwise become a user that cannot write the folder.
      `user ${userInfo().username}`,
      ...settings,
    ];
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const broker = this.#process;
    this.#process = undefined;
    if (broker === undefined || broker.exitCode !== null || broker.signalCode !== null) return;
    const exit = once(broker, 'exit');
    broker.kill(signal);
    // A stopped process takes SIGTERM only when it goes on.
    broker.kill('SIGCONT');
    await exit;
  }
}

/** A port that is free at this moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
  return address.port;
}
