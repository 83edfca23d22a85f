/** Last steps of the start of a hub: its interface, metrics and health, and enrolment. */
import { isLoopback } from '../../adapters/http/hosts.ts';
import { type RunningServer, startServer } from '../../adapters/http/server.ts';
import { BENCH_LIMITS, findDocuments } from '../../assembly/interface.ts';
import { defined } from '../../protocol/defined.ts';
import { operations } from '../../protocol/interface/operations.ts';
import { defaultsOf, interfaceSettings } from '../../protocol/settings.ts';
import { EventReader } from '../core/events.ts';
import { LiveFeed } from '../core/live.ts';
import { FleetOverview } from '../core/overview.ts';
import { Viewers } from '../core/viewers.ts';
import { hubDocument } from '../http/document.ts';
import { addHealth } from '../http/health.ts';
import { hubOperations } from '../http/operations.ts';
import { hubGates } from './access.ts';
import type { HubBroker } from './broker.ts';
import type { HubDatabase } from './database.ts';
import { type HandlersParts, hubHandlers } from './handlers.ts';
import { type HubHealthParts, serveHealth } from './health.ts';
import { type HubParts, type HubStart, LOCAL } from './options.ts';
import type { RunningBroker } from './receiving.ts';

type Views = Pick<HandlersParts, 'overview' | 'events' | 'live' | 'viewers'>;

/** Creates the views of all cars together and of single cars, for people who watch them. */
export function hubViews({ clock, log, after }: HubStart, database: HubDatabase, broker: HubBroker): Views {
  const { overviewReader, reader, news } = database;
  const looking = { reader: overviewReader, clock, turn: () => new Promise<void>(setImmediate) };
  return {
    overview: new FleetOverview(looking),
    events: new EventReader(looking),
    viewers: new Viewers({ clock, log, publish: (topic, payload) => broker.publish(topic, payload) }),
    live: new LiveFeed({
      news,
      clock,
      log,
      after,
      reader: { arrived: (asked) => overviewReader.arrived(asked), status: (vin) => reader.status(vin) },
    }),
  };
}

type Health = Awaited<ReturnType<typeof serveHealth>>;

/** Starts the servers of metrics and health. Rejects as {@link serveHealth} does. */
export async function startHealth(
  { options: { data, metrics: port, hosts }, clock, log, teardowns }: HubStart,
  { database, measures }: HubParts,
  running: Pick<HubHealthParts, 'intake' | 'broker' | 'status' | 'exits'>,
): Promise<Health> {
  const health = await serveHealth({
    ...{ data, database, measures, clock, log, ...running },
    ...defined({ port, host: hosts?.metrics }),
  });
  teardowns.unshift(() => health.close());
  return health;
}

type InterfaceParts = HubParts & Omit<HandlersParts, 'pages' | 'tiles' | 'vehicle' | 'clock'>;

/** Starts the HTTP interface. Rejects as {@link startServer} does. */
export async function startInterface(start: HubStart, parts: InterfaceParts, health: Health): Promise<RunningServer> {
  const { options, clock, log, teardowns } = start;
  const { database, states, keys, own, live } = parts;
  const { secure, tiles, vehicle, clients, trustedProxies, hosts: { http: host = LOCAL } = {} } = options;
  // Without an identity provider, the hub does not load the client for it.
  const signIn =
    options.signIn &&
    (await import('./sign-in.ts')).signInAt(options.signIn, {
      states,
      registry: database.registry,
      keys: keys.tokens,
      clock,
      log,
    });
  const documents = findDocuments(log);
  const describe = (text: string): string => hubDocument(text, hubOperations);
  const server = await startServer({
    access: 'hub',
    operations: [...operations, ...hubOperations],
    handlers: hubHandlers({ ...parts, pages: keys.pages, tiles, vehicle, clock }),
    gates: hubGates({ states, keys: keys.tokens, clients, clock }),
    routes: (router) => {
      addHealth(router, () => health.check(), clock);
      signIn?.add(router);
    },
    host,
    port: options.http,
    ...defined({
      trustedProxies,
      documents: documents && {
        ...documents,
        hub: true as const,
        describe,
        ...defined({ tiles: tiles?.url, signIn: signIn?.address }),
      },
    }),
    ...(isLoopback(host) ? BENCH_LIMITS : defaultsOf(interfaceSettings)),
    ...(secure && own ? { hosts: secure.names, tls: { cert: own.tls.file, key: own.tls.file } } : {}),
    clock,
    log,
  });
  teardowns.unshift(() => server.stop());
  // Stop the streams before the server, which waits for running requests.
  teardowns.unshift(() => live.stop());
  return server;
}

/** Starts the enrolment of cars. @returns its port; undefined for a hub without TLS, which has no enrolment */
export async function startCarEnrolment(
  { options: { data, hosts, secure }, clock, log, teardowns }: HubStart,
  { database: { registry }, states, own }: HubParts,
  { broker, embedded }: RunningBroker,
  server: RunningServer,
  trust: string,
): Promise<number | undefined> {
  if (own === undefined || secure === undefined) return undefined;
  const { startEnrolment } = await import('./enrolment.ts');
  const parts = { ...own, registry, states, secure, data, trust, clock, log, host: hosts?.http ?? LOCAL };
  const port = embedded && new URL(embedded.url).port;
  return startEnrolment(
    {
      ...parts,
      broker: (name) => (port === undefined ? broker.url : `mqtts://${name}:${port}`),
      renewed: (made) => {
        embedded?.renew(made);
        server.reload();
      },
    },
    teardowns,
  );
}
