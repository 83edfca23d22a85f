/** A real Mosquitto on a free loopback port, with persistence in a separate folder. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { BrokerRig } from './broker.ts';
import { Daemon, withFreePorts } from './daemon.ts';

export interface MosquittoOptions {
  /** Additional lines of the configuration. */
  readonly settings?: readonly string[];
  /** Lines about listeners and access. Default: one listener on the port with access for all. */
  readonly listener?: (port: number) => readonly string[];
}

export class MosquittoRig implements BrokerRig {
  /** Folder of configuration and persistence. Tests may add files before the start. */
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

  /** Process id, or 0 if it is stopped. */
  get pid(): number {
    return this.#daemon?.pid ?? 0;
  }

  async start(): Promise<void> {
    if (this.#port !== 0) await this.#run(this.#port);
    else await withFreePorts(1, ([port = 0]) => this.#run(port));
  }

  /** SIGTERM: it saves its state and closes its connections. */
  async stop(): Promise<void> {
    await this.#daemon?.end('SIGTERM');
    this.#daemon = undefined;
  }

  async kill(): Promise<void> {
    await this.#daemon?.end('SIGKILL');
    this.#daemon = undefined;
  }

  /** Makes it hang: connections stay open, and no request is answered. */
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
      // Started as root, it would otherwise change to a user that cannot write the folder.
      `user ${userInfo().username}`,
      ...(this.#options.settings ?? []),
    ];
  }
}
