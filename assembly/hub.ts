/** A hub on one machine: the embedded broker, one SQLite file, the interface on the loopback address. */
import { join } from 'node:path';
import { SqliteDatabase, SqliteMessageStore } from '../adapters/database/index.ts';
import { LocalGate } from '../adapters/http/access/local.ts';
import { numbersOf } from '../adapters/http/hub/numbers.ts';
import { hubOperations } from '../adapters/http/hub/operations.ts';
import { PageTokens } from '../adapters/http/paging.ts';
import { handlersOf } from '../adapters/http/resources/index.ts';
import { type RunningServer, startServer } from '../adapters/http/server.ts';
import { EmbeddedBroker } from '../adapters/mqtt/index.ts';
import { lockDirectory } from '../adapters/store/index.ts';
import type { Clock, Log } from '../agent/ports.ts';
import { Intake } from '../hub/intake.ts';
import type { NumbersStore } from '../hub/ports.ts';
import { operations } from '../protocol/interface/operations.ts';
import { makeDirectory } from './directory.ts';
import { servedVehicles } from './hub-vehicles.ts';
import { BENCH_RATES, findDocuments, pageKey } from './interface.ts';
import { type Teardown, withTeardown } from './teardown.ts';

export interface HubOptions {
  /** Directory of the database and the keys. */
  readonly data: string;
  /** Port of the embedded broker; 0: any free one. */
  readonly port: number;
  /** Port of the interface; 0: any free one. */
  readonly http: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Hub {
  /** URL of the broker. */
  readonly broker: string;
  readonly interface: RunningServer;
  readonly store: NumbersStore;
  /** Ends interface and broker, then the database. */
  stop(): Promise<void>;
}

/** Topics of messages of cars, of whatever version of the protocol. */
const UP = /^vigie\/[^/]+\/[^/]+\/up\//;

/**
 * Starts a hub. Rejects with `usage.wrong` when another process uses the directory, a port is taken or Node has no
 * SQLite, and as {@link SqliteDatabase.open} does.
 */
export async function startHub(options: HubOptions): Promise<Hub> {
  const { begun, stop } = await withTeardown(options.log, (teardowns) => begin(options, teardowns));
  return { ...begun, stop };
}

/** Registers at the front of `teardowns` how to end each thing that it begins. */
async function begin({ data, port, http, clock, log }: HubOptions, teardowns: Teardown[]): Promise<Omit<Hub, 'stop'>> {
  makeDirectory(data, { of: 'the hub', choose: '--data' });
  const unlock = lockDirectory(data);
  teardowns.unshift(async () => unlock());
  const database = await SqliteDatabase.open(join(data, 'hub.sqlite'));
  teardowns.unshift(async () => database.close());
  const store = new SqliteMessageStore(database);
  const intake = new Intake({ store, clock, log, soon: (work) => setImmediate(work) });
  teardowns.unshift(() => intake.settled());
  const broker = new EmbeddedBroker({
    port,
    accept: async (topic, payload) => {
      if (UP.test(topic)) await intake.accept(topic, payload);
    },
  });
  await broker.start();
  teardowns.unshift(() => broker.stop());
  const gate = new LocalGate();
  const documents = findDocuments(log);
  const server = await startServer({
    operations: [...operations, ...hubOperations],
    handlers: {
      ...handlersOf(servedVehicles(database, store), new PageTokens(pageKey(join(data, 'pages.key'), log))),
      'hub.numbers.get': numbersOf(store),
    },
    gates: { fleet: gate, user: gate },
    host: '127.0.0.1',
    port: http,
    rates: BENCH_RATES,
    clock,
    log,
    ...(documents === undefined ? {} : { documents }),
  });
  teardowns.unshift(() => server.stop());
  return { broker: broker.url, interface: server, store };
}
