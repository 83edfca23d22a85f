/** Broker, database and hubs of a fleet: real programs on the loopback interface that can be killed. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { Version } from '../../adapters/mqtt/protocol-choice.ts';
import { SqliteDatabase } from '../../hub/database/index.ts';
import { VigieProcess } from '../../test/rig/bench.ts';
import type { BrokerRig } from '../../test/rig/broker.ts';
import { MosquittoRig } from '../../test/rig/mosquitto.ts';
import { NatsCluster, NatsRig } from '../../test/rig/nats.ts';
import { PostgresRig } from '../../test/rig/postgres.ts';
import { RabbitCluster, RabbitRig } from '../../test/rig/rabbitmq.ts';
import { shippedBounds } from '../../test/rig/shipped-brokers.ts';
import { BareClient } from './client.ts';

export interface FleetBroker {
  readonly version: Version;
  /** Ports and process ids of the nodes, always in the same order. A node that is not running has the process id 0. */
  readonly ports: readonly number[];
  readonly pids: readonly number[];
  start(): Promise<void>;
  /** Functions that kill a node, and that restart it with its stored data. If omitted, there is only one node. */
  readonly nodes?: { kill(place: number): Promise<void>; revive(place: number): Promise<void> };
  remove(): Promise<void>;
}

/** A broker of one node. */
export interface SingleBroker extends FleetBroker {
  /** Kills it like a power cut. Resolves when it is gone. */
  kill(): Promise<void>;
}

export const brokers: Readonly<Record<string, () => SingleBroker>> = {
  mosquitto: () => {
    const rig = new MosquittoRig({ settings: shippedBounds('mosquitto.conf') });
    return single(rig, 5, () => rig.remove());
  },
  nats: () => {
    const rig = new NatsRig(shippedBounds('nats.conf'));
    return single(rig, 4, () => rig.remove());
  },
  rabbitmq: () => {
    const rig = new RabbitRig({ clientIds: [], retained: [] }, shippedBounds('rabbitmq.conf'));
    return single(rig, 4, () => rig.destroy());
  },
};

/** Brokers that consist of three nodes. */
export const clusters: Readonly<Record<string, () => FleetBroker>> = {
  nats: () => clustered(new NatsCluster(shippedBounds('nats.conf'))),
  rabbitmq: () => clustered(new RabbitCluster(shippedBounds('rabbitmq.conf'))),
};

function single(
  rig: BrokerRig & { readonly pid: number },
  version: Version,
  remove: () => Promise<void>,
): SingleBroker {
  return {
    version,
    get ports() {
      return [rig.port];
    },
    get pids() {
      return [rig.pid];
    },
    start: () => rig.start(),
    kill: () => rig.kill(),
    remove,
  };
}

function clustered(rig: NatsCluster | RabbitCluster): FleetBroker {
  return {
    version: 4,
    get ports() {
      return rig.ports;
    },
    get pids() {
      return rig.pids;
    },
    start: async () => {
      await rig.start();
      await Promise.all(rig.ports.map(untilAnswers));
    },
    nodes: rig,
    remove: () => rig.remove(),
  };
}

/** Waits until a node accepts clients. Nodes refuse them until they have found each other. */
async function untilAnswers(port: number, place: number): Promise<void> {
  const client = new BareClient({
    host: '127.0.0.1',
    ports: [port],
    version: 4,
    clientId: `first-${place}`,
    filter: `first/${place}`,
  });
  while (!client.ready) {
    client.tick(performance.now());
    await after(100);
  }
  client.end();
}

/** Number of stored copies of a payload. */
export interface StoredPayload {
  readonly payload: Uint8Array;
  readonly copies: number;
}

export interface FleetDatabase {
  /** Connection URL for hub.yaml. If omitted, the hub uses SQLite in its directory. */
  readonly url?: string;
  /** The database server. If omitted, the database is in the hub. */
  readonly server?: PostgresRig;
  messages(): Promise<number>;
  payloads(): Promise<readonly StoredPayload[]>;
  /** Size on disk in bytes, including keys and indexes. */
  size(): Promise<number>;
  /** Sizes in bytes of the largest tables and indexes. */
  tables?(): Promise<ReadonlyMap<string, number>>;
  remove(): Promise<void>;
}

const PAYLOADS = 'SELECT payload, count(*) AS copies FROM messages GROUP BY payload';

const TABLES = `SELECT relname AS name, pg_table_size(oid) AS bytes FROM pg_class
  WHERE relkind IN ('r', 'i') AND relnamespace = current_schema()::regnamespace ORDER BY bytes DESC LIMIT 10`;

export async function startPostgres(): Promise<FleetDatabase> {
  // The server syncs every commit, as in production.
  const server = new PostgresRig({ settings: { fsync: 'on', max_wal_size: '2GB' } });
  await server.start();
  const url = await server.create();
  return {
    url,
    server,
    messages: async () => Number((await server.execute(url, 'SELECT count(*) AS n FROM messages'))[0]?.['n']),
    payloads: async () =>
      (await server.execute(url, PAYLOADS)).map(({ payload, copies }) => ({
        payload: payload as Uint8Array,
        copies: Number(copies),
      })),
    size: async () => Number((await server.execute(url, 'SELECT pg_database_size(current_database()) AS n'))[0]?.['n']),
    tables: async () => {
      const rows = await server.execute(url, TABLES);
      return new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)]));
    },
    remove: () => server.remove(),
  };
}

/** Returns the database that is in the directory of a hub. */
export function sqliteIn(data: string): FleetDatabase {
  const file = join(data, 'hub.sqlite');
  const read = async (sql: string): Promise<readonly Record<string, unknown>[]> => {
    const database = await SqliteDatabase.open(file);
    try {
      return database.all(sql);
    } finally {
      database.close();
    }
  };
  return {
    messages: async () => Number((await read('SELECT count(*) AS n FROM messages'))[0]?.['n']),
    payloads: async () =>
      (await read(PAYLOADS)).map(({ payload, copies }) => ({ payload: payload as Uint8Array, copies: Number(copies) })),
    size: async () => statSync(file).size,
    remove: async () => undefined,
  };
}

export interface FleetHubOptions {
  readonly name: string;
  /** Ports of the broker's nodes. If omitted, the hub uses its embedded broker. */
  readonly broker?: readonly number[];
  readonly database?: string;
}

/** Returns the broker settings for hub.yaml. */
function addressesOf(ports: readonly number[]): string {
  const [url, ...fallbacks] = ports.map((port) => `'mqtt://127.0.0.1:${port}'`);
  return `url: ${url}${fallbacks.length === 0 ? '' : `, fallbacks: [${fallbacks.join(', ')}]`}`;
}

/** Secret that encrypts the keys which the hubs share. */
const SECRET = randomBytes(32).toString('base64');

/** A `vigie hub` that can be killed and restarted with the same name and ports. */
export class FleetHub {
  readonly name: string;
  readonly data: string;
  readonly #folder: string;
  readonly #options: FleetHubOptions;
  #process: VigieProcess | undefined;
  #ports = { broker: 0, http: 0 };

  constructor(options: FleetHubOptions) {
    this.#options = options;
    this.name = options.name;
    this.#folder = mkdtempSync(join(tmpdir(), 'vigie-fleet-hub-'));
    this.data = join(this.#folder, 'data');
    mkdirSync(this.data);
  }

  /** Process id; 0 if the hub is not running. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  get brokerPort(): number {
    return this.#ports.broker;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#ports.http}`;
  }

  async start(): Promise<void> {
    const { name, broker, database } = this.#options;
    const file = join(this.#folder, 'hub.yaml');
    const { broker: port, http } = this.#ports;
    writeFileSync(join(this.#folder, 'group.secret'), SECRET);
    writeFileSync(
      file,
      [
        'hub: 1',
        `name: ${name}`,
        `data: ${this.data}`,
        broker === undefined
          ? `broker: { listen: '127.0.0.1:${port}' }`
          : `broker: { ${addressesOf(broker)}, group: fleet, receiveMaximum: 500 }`,
        ...(database === undefined ? [] : [`database: { url: '${database}', secretFile: group.secret }`]),
        `http: { listen: '127.0.0.1:${http}' }`,
        'log: { level: warn }',
      ].join('\n'),
    );
    this.#process = new VigieProcess(['hub', '-c', file]);
    await this.#process.says('Ctrl-C ends');
    const said = this.#process.output;
    this.#ports = {
      broker: broker === undefined ? Number(/mqtt:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1]) : 0,
      http: Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1]),
    };
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.#process?.end(signal);
    this.#process = undefined;
  }

  async remove(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Last lines of the hub's output, or a note that it is not running. */
  get said(): string {
    return this.#process?.output.trimEnd().split('\n').slice(-20).join('\n') ?? 'it does not run';
  }

  /** Returns the number of new messages that the hub has received since its start. */
  async taken(): Promise<number> {
    const values = (await this.#metrics()).matchAll(/^vigie_hub_messages_total\{[^}]*\} (\d+)$/gm);
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  #metrics(): Promise<string> {
    return new Promise((resolve, reject) => {
      const asked = request({ socketPath: join(this.data, 'hub.sock'), path: '/metrics' }, (response) => {
        let text = '';
        response
          .setEncoding('utf8')
          .on('data', (piece: string) => {
            text += piece;
          })
          .on('end', () => resolve(text));
      });
      asked.on('error', reject).end();
    });
  }
}
