/** Real NATS servers on free loopback ports: MQTT 3.1.1 over JetStream, one server or a cluster of three. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrokerRig } from './broker.ts';
import { Daemon, freePorts, withFreePorts } from './daemon.ts';

interface Ports {
  readonly client: number;
  readonly mqtt: number;
}

interface Member {
  readonly name: string;
  /** Port for the other servers, and all such ports. */
  readonly route: number;
  readonly routes: readonly number[];
}

/**
 * Time after which an unacknowledged message is repeated. NATS counts it from the delivery, whatever happens to the
 * connection, so a car that was cut off waits for it after it is back.
 */
const ACK_WAIT = [`ack_wait: "1s"`, 'max_ack_pending: 1000'];

async function serve(
  folder: string,
  { client, mqtt }: Ports,
  member?: Member,
  settings: readonly string[] = ACK_WAIT,
): Promise<Daemon> {
  const file = join(folder, 'nats.conf');
  const lines = [
    `listen: 127.0.0.1:${client}`,
    `server_name: ${member?.name ?? 'alone'}`,
    `jetstream { store_dir: "${join(folder, 'jetstream')}" }`,
    // Without this setting, the first client gets streams with as many replicas as there are routes.
    `mqtt { listen: "127.0.0.1:${mqtt}", ${settings.join(', ')}${member === undefined ? '' : ', stream_replicas: 3'} }`,
  ];
  if (member !== undefined) {
    const others = member.routes.filter((port) => port !== member.route).map((port) => `nats://127.0.0.1:${port}`);
    lines.push(`cluster { name: three, listen: 127.0.0.1:${member.route}, routes: [${others.join(', ')}] }`);
  }
  writeFileSync(file, `${lines.join('\n')}\n`);
  return Daemon.start({ program: 'nats-server', arguments: ['-c', file], ready: /Server is ready/ });
}

/** One server. */
export class NatsRig implements BrokerRig {
  readonly #folder = mkdtempSync(join(tmpdir(), 'nats-'));
  readonly #settings: readonly string[] | undefined;
  #ports: Ports | undefined;
  #daemon: Daemon | undefined;

  /** @param settings members of `mqtt`, instead of those for tests of the link */
  constructor(settings?: readonly string[]) {
    this.#settings = settings;
  }

  get port(): number {
    return this.#ports?.mqtt ?? 0;
  }

  get url(): string {
    return `mqtt://127.0.0.1:${this.port}`;
  }

  /** Process id, or 0 if it is stopped. */
  get pid(): number {
    return this.#daemon?.pid ?? 0;
  }

  async start(): Promise<void> {
    if (this.#ports !== undefined) {
      this.#daemon = await serve(this.#folder, this.#ports, undefined, this.#settings);
      return;
    }
    await withFreePorts(2, async ([client = 0, mqtt = 0]) => {
      this.#daemon = await serve(this.#folder, { client, mqtt }, undefined, this.#settings);
      this.#ports = { client, mqtt };
    });
  }

  async stop(): Promise<void> {
    await this.#daemon?.end('SIGTERM');
  }

  async kill(): Promise<void> {
    await this.#daemon?.end('SIGKILL');
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Three servers that store everything three times. */
export class NatsCluster {
  readonly #folder = mkdtempSync(join(tmpdir(), 'nats-cluster-'));
  readonly #settings: readonly string[] | undefined;
  #members: { ports: Ports; member: Member; folder: string; daemon: Daemon | undefined }[] = [];

  /** @param settings members of `mqtt`, instead of those for tests of the link */
  constructor(settings?: readonly string[]) {
    this.#settings = settings;
  }

  /** Addresses for cars, in the order of the servers. */
  get urls(): readonly string[] {
    return this.ports.map((port) => `mqtt://127.0.0.1:${port}`);
  }

  get ports(): readonly number[] {
    return this.#members.map(({ ports }) => ports.mqtt);
  }

  /** Process ids, or 0 for a stopped server. */
  get pids(): readonly number[] {
    return this.#members.map(({ daemon }) => daemon?.pid ?? 0);
  }

  /** Folders of the servers in the same order. Each contains a folder `jetstream`. */
  get folders(): readonly string[] {
    return this.#members.map(({ folder }) => folder);
  }

  /** Resolves when all listen. They have found each other once they accept a client. */
  async start(): Promise<void> {
    const free = await freePorts(9);
    const port = (i: number): number => free[i] ?? 0;
    const routes = [port(6), port(7), port(8)];
    this.#members = [0, 1, 2].map((i) => ({
      ports: { client: port(i), mqtt: port(3 + i) },
      member: { name: `n${i}`, route: port(6 + i), routes },
      folder: mkdtempSync(join(this.#folder, `n${i}-`)),
      daemon: undefined,
    }));
    await Promise.all(this.#members.map((_, i) => this.revive(i)));
  }

  /** Kills the server at `place`. */
  async kill(place: number): Promise<void> {
    await this.#members[place]?.daemon?.end('SIGKILL');
  }

  /** Restarts the server with its stored state. */
  async revive(place: number): Promise<void> {
    const one = this.#members[place];
    if (one !== undefined) one.daemon = await serve(one.folder, one.ports, one.member, this.#settings);
  }

  async remove(): Promise<void> {
    await Promise.all(this.#members.map((_, i) => this.kill(i)));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
