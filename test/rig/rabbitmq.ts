/**
 * A real RabbitMQ with its MQTT plugin on free loopback ports. It takes seconds to start, so one serves a whole suite
 * and forgets between tests what these left.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import type { BrokerRig } from './broker.ts';
import { Daemon, withFreePorts } from './daemon.ts';

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

  async #run({ mqtt, node, mapper }: Ports): Promise<Daemon> {
    const at = (name: string): string => join(this.#folder, name);
    // The broker's own start would leave one behind, for the whole machine.
    if (this.#mapper === undefined || this.#mapper.ended) {
      this.#mapper = await Daemon.start({
        program: 'epmd',
        arguments: ['-port', String(mapper), '-address', '127.0.0.1', '-debug', '-debug'],
        ready: /entering the main select/,
      });
    }
    writeFileSync(at('enabled_plugins'), '[rabbitmq_mqtt].\n');
    writeFileSync(at('rabbitmq.conf'), `${[...configuration(mqtt), ...this.#settings].join('\n')}\n`);
    return Daemon.start({
      program,
      arguments: [],
      environment: {
        HOME: this.#folder,
        ERL_EPMD_PORT: String(mapper),
        ERL_EPMD_ADDRESS: '127.0.0.1',
        RABBITMQ_NODENAME: `vigie-${mqtt}@localhost`,
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
