/**
 * A real RabbitMQ with its MQTT plugin on free loopback ports. It takes seconds to start, so one serves a whole suite
 * and forgets between tests what these left.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import type { BrokerRig } from './broker.ts';
import { Daemon, freePorts, withFreePorts } from './daemon.ts';

/** What Debian's command runs; the command itself wants to be root or the broker's own user. */
const program = '/usr/lib/rabbitmq/bin/rabbitmq-server';

interface Ports {
  readonly mqtt: number;
  /** Of the Erlang node: other nodes, and the mapper that knows where nodes are. */
  readonly node: number;
  readonly mapper: number;
}

/** What tests leave at a broker. */
export interface Leftovers {
  readonly clientIds: readonly string[];
  readonly retained: readonly string[];
}

export class RabbitRig implements BrokerRig {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rabbitmq-'));
  readonly #leftovers: Leftovers;
  #ports: Ports | undefined;
  /** Left running as it is after a crash: a second mapper on the same port would end itself. */
  #mapper: Daemon | undefined;
  #daemon: Daemon | undefined;

  readonly #settings: readonly string[];

  /** `settings`: lines of the configuration, instead of those for tests of the link. */
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

  /** Of the running process, which leads a group; 0 when there is none. */
  get pid(): number {
    return this.#daemon?.pid ?? 0;
  }

  /** Does nothing when it runs. */
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

  /** Forgets sessions and retained messages, for the next test. */
  async remove(): Promise<void> {
    await this.start();
    for (const clientId of this.#leftovers.clientIds) {
      const heir = await connectAsync(this.url, { protocolVersion: 4, clientId, clean: true, reconnectPeriod: 0 });
      for (const topic of this.#leftovers.retained) await heir.publishAsync(topic, '', { qos: 1, retain: true });
      await heir.endAsync();
    }
  }

  /** Ends it and removes what it kept. */
  async destroy(): Promise<void> {
    await this.kill();
    await this.#mapper?.end('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #run(ports: Ports): Promise<Daemon> {
    // The broker's own start would leave one behind, for the whole machine.
    if (this.#mapper === undefined || this.#mapper.ended) this.#mapper = await map(ports.mapper);
    return serve(this.#folder, this.#folder, ports, this.#settings);
  }
}

/** Three nodes with one map of nodes; what waits for a client that keeps its session is on all of them. */
export class RabbitCluster {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rabbitmq-cluster-'));
  readonly #settings: readonly string[];
  #mapper: Daemon | undefined;
  #nodes: { readonly folder: string; readonly ports: Ports; daemon: Daemon | undefined }[] = [];

  constructor(settings: readonly string[]) {
    this.#settings = settings;
  }

  /** Where cars may connect, in the order of the nodes. */
  get ports(): readonly number[] {
    return this.#nodes.map(({ ports }) => ports.mqtt);
  }

  /** Of the processes, each of which leads a group; 0 for a node that does not run. */
  get pids(): readonly number[] {
    return this.#nodes.map(({ daemon }) => daemon?.pid ?? 0);
  }

  /** Resolves when all run; each takes clients as soon as the nodes have agreed on who keeps the client identifiers. */
  async start(): Promise<void> {
    const [mapper = 0, ...free] = await freePorts(7);
    this.#mapper = await map(mapper);
    this.#nodes = [0, 1, 2].map((i) => {
      const ports = { mqtt: free[i] ?? 0, node: free[3 + i] ?? 0, mapper };
      return { folder: mkdtempSync(join(this.#folder, `r${i}-`)), ports, daemon: undefined };
    });
    await Promise.all(this.#nodes.map((_, i) => this.revive(i)));
  }

  /** Ends a node at once. */
  async kill(place: number): Promise<void> {
    await this.#nodes[place]?.daemon?.end('SIGKILL');
  }

  /** Starts it again, with what it had kept. */
  async revive(place: number): Promise<void> {
    const one = this.#nodes[place];
    if (one === undefined) return;
    const settings = [
      ...this.#settings,
      'mqtt.durable_queue_type = quorum',
      'cluster_formation.peer_discovery_backend = classic_config',
      ...this.ports.map((port, i) => `cluster_formation.classic_config.nodes.${i + 1} = ${nodeName(port)}`),
    ];
    // Nodes trust each other by a secret in the home directory, which the first makes.
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

/** Milliseconds that a session is kept for a client that is away. */
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
