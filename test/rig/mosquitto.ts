/** A real Mosquitto on a free loopback port, with persistence in a folder of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { BrokerRig } from './broker.ts';
import { Daemon, withFreePorts } from './daemon.ts';

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
  #daemon: Daemon | undefined;

  constructor(options: MosquittoOptions = {}) {
    this.#options = options;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `mqtt://127.0.0.1:${this.#port}`;
  }

  /** Of the running process; 0 when there is none. */
  get pid(): number {
    return this.#daemon?.pid ?? 0;
  }

  async start(): Promise<void> {
    if (this.#port !== 0) await this.#run(this.#port);
    else await withFreePorts(1, ([port = 0]) => this.#run(port));
  }

  /** SIGTERM: it saves what it keeps and ends its connections. */
  async stop(): Promise<void> {
    await this.#daemon?.end('SIGTERM');
    this.#daemon = undefined;
  }

  async kill(): Promise<void> {
    await this.#daemon?.end('SIGKILL');
    this.#daemon = undefined;
  }

  /** Lets it hang: connections stay, nothing is answered. */
  hang(): void {
    this.#daemon?.signal('SIGSTOP');
  }

  resume(): void {
    this.#daemon?.signal('SIGCONT');
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #run(port: number): Promise<void> {
    const file = join(this.folder, 'mosquitto.conf');
    writeFileSync(file, `${this.#configuration(port).join('\n')}\n`);
    this.#daemon = await Daemon.start({
      program: 'mosquitto',
      arguments: ['-c', file],
      ready: /mosquitto version \S+ running/,
    });
    this.#port = port;
  }

  #configuration(port: number): readonly string[] {
    const open = [`listener ${port} 127.0.0.1`, 'allow_anonymous true'];
    return [
      ...(this.#options.listener?.(port) ?? open),
      'persistence true',
      `persistence_location ${this.folder}/`,
      'log_dest stderr',
      'set_tcp_nodelay true',
      // Started as root it would otherwise become a user that cannot write the folder.
      `user ${userInfo().username}`,
      ...(this.#options.settings ?? []),
    ];
  }
}
