/** A real InfluxDB 1 on a free loopback port, with its data in a separate folder. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Daemon, withFreePorts } from './daemon.ts';

interface InfluxAnswer {
  readonly results: readonly {
    readonly series?: readonly {
      readonly tags?: Readonly<Record<string, string>>;
      readonly values: readonly (readonly unknown[])[];
    }[];
    readonly error?: string;
  }[];
}

export class InfluxRig {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'influx-'));
  #ports: readonly number[] = [];
  #daemon: Daemon | undefined;

  get url(): string {
    return `http://127.0.0.1:${this.#ports[0]}`;
  }

  /** Starts the server, with the same data after a stop or a kill. */
  async start(): Promise<void> {
    if (this.#ports.length > 0) await this.#run(this.#ports);
    else await withFreePorts(2, (ports) => this.#run(ports));
  }

  async kill(): Promise<void> {
    await this.#daemon?.end('SIGKILL');
    this.#daemon = undefined;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs a statement of InfluxQL. */
  async query(statement: string, database = ''): Promise<InfluxAnswer['results'][number]> {
    const parameters = new URLSearchParams({ q: statement, db: database, epoch: 'ns' });
    const answer = await fetch(`${this.url}/query?${parameters}`, { method: 'POST' });
    // Times in ns are more than a double can hold.
    const text = (await answer.text()).replaceAll(/(?<=\[)\d{16,}/g, '"$&"');
    const [result = {}] = (JSON.parse(text) as InfluxAnswer).results;
    if (result.error !== undefined) throw new Error(result.error);
    return result;
  }

  async #run(ports: readonly number[]): Promise<void> {
    const file = join(this.folder, 'influxdb.conf');
    const [http, rpc] = ports;
    writeFileSync(
      file,
      `reporting-disabled = true
bind-address = "127.0.0.1:${rpc}"
[meta]
dir = "${this.folder}/meta"
[data]
dir = "${this.folder}/data"
wal-dir = "${this.folder}/wal"
[monitor]
store-enabled = false
[http]
bind-address = "127.0.0.1:${http}"
log-enabled = false
`,
    );
    this.#daemon = await Daemon.start({
      program: 'influxd',
      arguments: ['-config', file],
      ready: /Listening for signals/,
    });
    this.#ports = ports;
  }
}
