/**
 * A real RabbitMQ with its MQTT plugin on free loopback ports. It takes seconds to start, so one serves a whole suite,
 * and its state is cleared between tests.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import type { BrokerRig } from './broker.ts';
import { Daemon, freePorts, withFreePorts } from './daemon.ts';

/** The program behind Debian's command, which must run as root or as the broker's user. */
const program = '/usr/lib/rabbitmq/bin/rabbitmq-server';

interface Ports {
  readonly mqtt: number;
  /** Ports of the Erlang node: for other nodes, and of the port mapper. */
  readonly node: number;
  readonly mapper: number;
}

/** State that tests leave at a broker. */
export interface Leftovers {
  readonly clientIds: readonly string[];
  readonly retained: readonly string[];
}

export class RabbitRig implements BrokerRig {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rabbitmq-'));
  readonly #leftovers: Leftovers;
  #ports: Ports | undefined;
  /** Not restarted if it still runs after a crash: a second mapper on the same port would exit. */
  #mapper: Daemon | undefined;
  #daemon: Daemon | undefined;

  readonly #settings: readonly string[];

  /** @param settings lines of the configuration, instead of those for tests of the link */
  constructor(leftovers: Leftovers, settings: readonly string[] = [SUBSCRIPTION_TTL]) {
    this.#leftovers = leftovers;
    this.#settings = settings;
  }

  get port(): number {
    return this.#ports?.mqtt ?? 0;
  }

  get url(): string {
    return `mqtt://127.0.0.1:${this.port}`;
  }

  /** Process id, which leads a group, or 0 if it is stopped. */
  get pid(): number {
    return this.#daemon?.pid ?? 0;
  }

  /** Does nothing if it is running. */
  async start(): Promise<void> {
    if (this.#daemon !== undefined && !this.#daemon.ended) return;
    if (this.#ports !== undefined) {
      this.#daemon = await this.#run(this.#ports);
      return;
    }
    await withFreePorts(3, async ([mqtt = 0, node = 0, mapper = 0]) => {
      const ports = { mqtt, node, mapper };
      this.#daemon = await this.#run(ports);
      this.#ports = ports;
    });
  }

  async stop(): Promise<void> {
    await this.#daemon?.end('SIGTERM');
  }

  async kill(): Promise<void> {
    await this.#daemon?.end('SIGKILL');
  }

  /** Clears sessions and retained messages for the next test. */
  async remove(): Promise<void> {
    await this.start();
    for (const clientId of this.#leftovers.clientIds) {
      const heir = await connectAsync(this.url, { protocolVersion: 4, clientId, clean: true, reconnectPeriod: 0 });
      for (const topic of this.#leftovers.retained) await heir.publishAsync(topic, '', { qos: 1, retain: true });
      await heir.endAsync();
    }
  }

  /** Ends it and removes its state. */
  async destroy(): Promise<void> {
    await this.kill();
    await this.#mapper?.end('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #run(ports: Ports): Promise<Daemon> {
    // The broker would otherwise start a mapper that stays for the whole machine.
    if (this.#mapper === undefined || this.#mapper.ended) this.#mapper = await map(ports.mapper);
    return serve(this.#folder, this.#folder, ports, this.#settings);
  }
}

/** Three nodes with one port mapper. Queues of persistent sessions are on all of them. */
export class RabbitCluster {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rabbitmq-cluster-'));
  readonly #settings: readonly string[];
  #mapper: Daemon | undefined;
  #nodes: { readonly folder: string; readonly ports: Ports; daemon: Daemon | undefined }[] = [];

  constructor(settings: readonly string[]) {
    this.#settings = settings;
  }

  /** Ports for cars, in the order of the nodes. */
  get ports(): readonly number[] {
    return this.#nodes.map(({ ports }) => ports.mqtt);
  }

  /** Process ids, each of which leads a group, or 0 for a stopped node. */
  get pids(): readonly number[] {
    return this.#nodes.map(({ daemon }) => daemon?.pid ?? 0);
  }

  /** Resolves when all run. A node accepts clients once the nodes have agreed on the owners of client identifiers. */
  async start(): Promise<void> {
    const [mapper = 0, ...free] = await freePorts(7);
    this.#mapper = await map(mapper);
    this.#nodes = [0, 1, 2].map((i) => {
      const ports = { mqtt: free[i] ?? 0, node: free[3 + i] ?? 0, mapper };
      return { folder: mkdtempSync(join(this.#folder, `r${i}-`)), ports, daemon: undefined };
    });
    await Promise.all(this.#nodes.map((_, i) => this.revive(i)));
  }

  /** Kills a node. */
  async kill(place: number): Promise<void> {
    await this.#nodes[place]?.daemon?.end('SIGKILL');
  }

  /** Restarts a node with its stored state. */
  async revive(place: number): Promise<void> {
    const one = this.#nodes[place];
    if (one === undefined) return;
    const settings = [
      ...this.#settings,
      'mqtt.durable_queue_type = quorum',
      'cluster_formation.peer_discovery_backend = classic_config',
      ...this.ports.map((port, i) => `cluster_formation.classic_config.nodes.${i + 1} = ${nodeName(port)}`),
    ];
    // Nodes authenticate by a secret in the home directory, which the first node creates.
    one.daemon = await serve(one.folder, this.#folder, one.ports, settings);
  }

  async remove(): Promise<void> {
    await Promise.all(this.#nodes.map((_, i) => this.kill(i)));
    await this.#mapper?.end('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function map(port: number): Promise<Daemon> {
  return Daemon.start({
    program: 'epmd',
    arguments: ['-port', String(port), '-address', '127.0.0.1', '-debug', '-debug'],
    ready: /entering the main select/,
  });
}

const nodeName = (mqtt: number): string => `vigie-${mqtt}@localhost`;

function serve(
  folder: string,
  home: string,
  { mqtt, node, mapper }: Ports,
  settings: readonly string[],
): Promise<Daemon> {
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('enabled_plugins'), '[rabbitmq_mqtt].\n');
  writeFileSync(at('rabbitmq.conf'), `${[...configuration(mqtt), ...settings].join('\n')}\n`);
  return Daemon.start({
    program,
    arguments: [],
    environment: {
      HOME: home,
      ERL_EPMD_PORT: String(mapper),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      RABBITMQ_NODENAME: nodeName(mqtt),
      RABBITMQ_DIST_PORT: String(node),
      RABBITMQ_MNESIA_BASE: at('mnesia'),
      RABBITMQ_LOG_BASE: at('log'),
      RABBITMQ_GENERATED_CONFIG_DIR: at('generated'),
      RABBITMQ_ENABLED_PLUGINS_FILE: at('enabled_plugins'),
      RABBITMQ_CONFIG_FILE: at('rabbitmq.conf'),
      RABBITMQ_ADVANCED_CONFIG_FILE: at('none.config'),
      RABBITMQ_CONF_ENV_FILE: at('none.sh'),
      RABBITMQ_PID_FILE: at('pid'),
    },
    ready: /Server startup complete/,
  });
}

/** Lifetime of the session of an absent client, ms. */
const SUBSCRIPTION_TTL = 'mqtt.subscription_ttl = 604800000';

function configuration(mqtt: number): readonly string[] {
  return [
    'listeners.tcp = none',
    `mqtt.listeners.tcp.1 = 127.0.0.1:${mqtt}`,
    'mqtt.allow_anonymous = true',
    'mqtt.default_user = guest',
    'mqtt.default_pass = guest',
    'log.console = true',
    'log.file = false',
  ];
}
