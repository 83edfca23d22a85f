/** Starts a hub: its broker, an SQLite file or PostgreSQL, and the interface on the loopback address. */

import { join } from 'node:path';
import { isLoopback } from '../../adapters/http/hosts.ts';
import { PageTokens } from '../../adapters/http/paging.ts';
import { type RunningServer, startServer } from '../../adapters/http/server.ts';
import { CommandSigner, generateKey, listKeys } from '../../adapters/keys/index.ts';
import { lockDirectory } from '../../adapters/store/index.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { channelsOf } from '../../assembly/callback-channels.ts';
import { BENCH_LIMITS, findDocuments, pageKey } from '../../assembly/interface.ts';
import { type Teardown, withTeardown } from '../../assembly/teardown.ts';
import type { CallbacksConfiguration } from '../../config/callbacks.ts';
import type { SignInConfiguration } from '../../config/hub.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { operations } from '../../protocol/interface/operations.ts';
import type { MapTiles } from '../../protocol/interface/own/car-description.ts';
import { remoteTypes } from '../../protocol/remote/table.ts';
import { callbackSettings, defaultsOf, interfaceSettings } from '../../protocol/settings.ts';
import { type CommandKey, HubCommands } from '../core/commands.ts';
import { Erasures } from '../core/erasures.ts';
import { EventReader } from '../core/events.ts';
import { Intake } from '../core/intake.ts';
import { LiveFeed } from '../core/live.ts';
import { HubMeasures } from '../core/measures.ts';
import { FleetOverview } from '../core/overview.ts';
import type { NumbersStore, Timer } from '../core/ports.ts';
import type { Registry } from '../core/registry.ts';
import { RegistryStates } from '../core/registry-state.ts';
import type { RetentionDays } from '../core/retention.ts';
import { Viewers } from '../core/viewers.ts';
import { hubDocument } from '../http/document.ts';
import { addHealth } from '../http/health.ts';
import { hubOperations } from '../http/operations.ts';
import { hubGates, tokenKeyFile } from './access.ts';
import { connectExternal, type ExternalBroker, type HubBroker, type HubBrokerParts, startEmbedded } from './broker.ts';
import { clientRights, onChanges, refusalLog, watchRegistry } from './clients.ts';
import { type HubDatabase, onPostgres, onSqlite } from './database.ts';
import { HubDeliveries } from './deliveries.ts';
import type { HubCertificates, SecureHub } from './enrolment.ts';
import { makeDatabaseFile, makeHubDirectory } from './folder.ts';
import { hubHandlers } from './handlers.ts';
import { serveHealth } from './health.ts';
import { startMonitorSync } from './monitors.ts';
import { hubNotifier } from './notifier.ts';
import { startRounds } from './rounds.ts';
import { motorizationOf } from './vehicles.ts';

const LOCAL = '127.0.0.1';

/** Default: notifications go to public addresses only, and encrypted. */
const CALLBACKS: CallbacksConfiguration = { networks: [], allowHttp: false, ...defaultsOf(callbackSettings) };

export interface HubOptions {
  /** Directory of the database and the keys. */
  readonly data: string;
  /** URL of PostgreSQL for the messages. If omitted, the hub uses an SQLite file in the directory. */
  readonly database?: string;
  /** An external broker. If omitted, the hub runs a broker in this process. */
  readonly broker?: ExternalBroker;
  /** Name of this hub at the broker. If omitted, made from its key. */
  readonly name?: string;
  /** Port of the embedded broker; 0 for any free port. */
  readonly port: number;
  /** Port of the interface; 0 for any free port. */
  readonly http: number;
  /** Port of metrics and health on this machine; 0 for any free port. If omitted, there is no port. */
  readonly metrics?: number;
  /** TLS for broker and interface, and enrolment of cars. If omitted, the hub uses no TLS. */
  readonly secure?: SecureHub;
  /** Rules for notifications of callbacks. If omitted, only public addresses, only `https`, and no push. */
  readonly callbacks?: Partial<CallbacksConfiguration>;
  /** Addresses to listen on. If omitted, 127.0.0.1. Other addresses need `secure` and a registry in use. */
  readonly hosts?: { readonly broker?: string; readonly http?: string; readonly metrics?: string };
  /** Addresses and networks of proxies before the interface. If omitted, the hub ignores forwarded addresses. */
  readonly trustedProxies?: readonly string[];
  /** Tiles of the maps of the page. If omitted, the page loads no tiles. */
  readonly tiles?: MapTiles;
  /** Identity provider for the page. If omitted, people need a token. */
  readonly signIn?: SignInConfiguration;
  /** Retention of messages. If omitted, messages are kept for ever. */
  readonly retention?: RetentionDays;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Hub {
  /** Port of the enrolment of cars. If omitted, there is no enrolment. */
  readonly enrolment?: number;
  /** URL of the broker. */
  readonly broker: string;
  readonly interface: RunningServer;
  /** Address of metrics and health, in addition to the socket in the directory. */
  readonly metrics?: string;
  readonly store: NumbersStore;
  /** File of the public key for commands, for cars to trust. */
  readonly trust: string;
  /** Fleets of the registry at the start. If omitted, every car may send, and requests need no token. */
  readonly fleets?: readonly string[];
  /** Resolves with the reason when another hub has taken the name of this hub, which then receives nothing more. */
  readonly displaced: Promise<VigieError>;
  /** Stops interface and broker, then the database. */
  stop(): Promise<void>;
}

/**
 * Starts a hub. Rejects with `usage.wrong` if another process uses the directory, a port is taken or Node has no
 * SQLite. Also rejects as {@link SqliteDatabase.open}, `PostgresDatabase.open` and {@link connectExternal} do.
 */
export async function startHub(options: HubOptions): Promise<Hub> {
  const { begun, stop } = await withTeardown(options.log, (teardowns) => begin(options, teardowns));
  return { ...begun, stop };
}

/** Starts all parts. Adds a function to the front of `teardowns` for each part, to stop it. */
async function begin(options: HubOptions, teardowns: Teardown[]): Promise<Omit<Hub, 'stop'>> {
  const { data, database, http, metrics, hosts, secure, clock, log } = options;
  const after: Timer = (delay, due) => clock.after(delay, due);
  makeHubDirectory(data, log);
  const unlock = lockDirectory(data);
  teardowns.unshift(async () => unlock());
  const callbacks = { ...CALLBACKS, ...options.callbacks };
  const { queueLimit: limit } = callbacks;
  const opened =
    database === undefined
      ? await onSqlite(makeDatabaseFile(data, log), limit, log)
      : await onPostgres(database, { limit, clock, log });
  const { store, reader, overviewReader, audit, registry, monitorStore, deliveries, news, close } = opened;
  teardowns.unshift(close);
  const keys = join(data, 'keys');
  const key = await commandKey(keys);
  const commands = new HubCommands({
    store: audit,
    key,
    clock,
    log,
    publish: (topic, payload) => broker.publish(topic, payload),
  });
  const monitors = startMonitorSync({ store: monitorStore, commands, clock, log }, teardowns);
  const exposed = exposedHost(hosts);
  if (exposed !== undefined) await requireProtection(exposed, secure, registry);
  const states = new RegistryStates(registry, exposed !== undefined);
  // A hub without enrolment does not load the certificate code.
  const certificates = secure && (await import('./enrolment.ts'));
  const own = secure && (await certificates?.openCertificates(data, secure.names, clock.now()));
  const measures = new HubMeasures(clock);
  const channels = channelsOf(callbacks, () => clock.now());
  teardowns.unshift(() => channels.close());
  const notifier = hubNotifier(channels);
  const delivering = new HubDeliveries({
    store: deliveries,
    books: monitorStore,
    notifier,
    measures: measures.deliveries,
    clock,
    log,
    motorizationOf: async (vin) => motorizationOf((await reader.status(vin))?.contents() ?? {}),
    changed: () => monitors.wake(),
  });
  // Only one hub uses the file, so existing claims belong to a killed hub.
  if (database === undefined) await deliveries.releaseAll();
  delivering.begin();
  teardowns.unshift(() => delivering.stop());
  const waiting = (): void => delivering.wake();
  const erasures = new Erasures({
    registry,
    after,
    log,
    clear: (vin, topics) => broker.clearRetained(vin, topics),
  });
  const intake = new Intake({
    store,
    clock,
    log,
    measures,
    waiting,
    forgotten: (vins) => erasures.forgottenSent(vins),
    soon: (work) => setImmediate(work),
    after,
  });
  teardowns.unshift(() => intake.settled());
  const receiving: HubBrokerParts = {
    accept: (topic, payload, retained) => intake.accept(topic, payload, retained),
    presence: (vin) => void erasures.sent(vin),
    online: (vin) => {
      Promise.all([commands.resend(vin), monitors.online(vin)]).catch((error: Error) =>
        log.error('hub.commands.unread', { vin, error: error.message }),
      );
    },
  };
  const { embedded, broker, displaced } = await connectBroker(options, receiving, {
    database: opened,
    states,
    identity: key.id,
    ...defined({ tls: own?.tls }),
  });
  teardowns.unshift(() => broker.stop());
  erasures.begin();
  teardowns.unshift(() => erasures.stop());
  if (embedded !== undefined) teardowns.unshift(watchRegistry({ states, clock, log }, embedded));
  const looking = { reader: overviewReader, clock, turn: () => new Promise<void>(setImmediate) };
  const [overview, events] = [new FleetOverview(looking), new EventReader(looking)];
  const viewers = new Viewers({ clock, log, publish: (topic, payload) => broker.publish(topic, payload) });
  const live = new LiveFeed({
    news,
    clock,
    log,
    after,
    reader: { arrived: (asked) => overviewReader.arrived(asked), status: (vin) => reader.status(vin) },
  });
  teardowns.unshift(
    onChanges({ states, clock, log }, async (state) => {
      // A car that joins or leaves a fleet has different monitors.
      monitors.wake();
      erasures.wake();
      live.endTokens((token) => state.isIssued(token));
    }),
  );
  const resends = startRounds(
    { database: opened, commands, measures, days: options.retention ?? {}, clock, log },
    teardowns,
  );
  const health = await serveHealth({
    data,
    measures,
    intake,
    clock,
    log,
    ...defined({ port: metrics }),
    ...(hosts?.metrics === undefined ? {} : { host: hosts.metrics }),
    reader: {
      countVehicles: () => overviewReader.countVehicles(),
      missingNumbers: () => reader.missingNumbers(),
      totals: () => deliveries.totals(),
    },
  });
  teardowns.unshift(() => health.close());
  const documents = findDocuments(log);
  // A hub without sign-in does not load the client for identity providers.
  const signIn =
    options.signIn &&
    (await import('./sign-in.ts')).signInAt(options.signIn, {
      states,
      registry,
      keyFile: tokenKeyFile(keys),
      clock,
      log,
    });
  const changed = (): void => {
    monitors.wake();
    delivering.changed();
  };
  const shown = { database: opened, states, commands, notifier, changed, overview, events, live, viewers, resends };
  const server = await startServer({
    access: 'hub',
    operations: [...operations, ...hubOperations],
    handlers: hubHandlers({
      ...shown,
      pages: new PageTokens(pageKey(join(data, 'pages.key'), log)),
      tiles: options.tiles,
      pushKey: channels.pushKey,
      clock,
    }),
    gates: hubGates({ states, keys, clock, log }),
    routes: (router) => {
      addHealth(router, () => health.check(), clock);
      signIn?.add(router);
    },
    host: hosts?.http ?? LOCAL,
    port: http,
    ...(options.trustedProxies && { trustedProxies: options.trustedProxies }),
    ...(isLoopback(hosts?.http ?? LOCAL) ? BENCH_LIMITS : defaultsOf(interfaceSettings)),
    ...(secure && own ? { hosts: secure.names, tls: { cert: own.tls.file, key: own.tls.file } } : {}),
    clock,
    log,
    ...(documents === undefined
      ? {}
      : {
          documents: {
            ...documents,
            hub: true,
            ...(options.tiles && { tiles: options.tiles.url }),
            ...(signIn && { signIn: signIn.address }),
            describe: (text) => hubDocument(text, hubOperations),
          },
        }),
  });
  teardowns.unshift(() => server.stop());
  // Stop the streams before the server, which waits for running requests.
  teardowns.unshift(() => live.stop());
  const trust = join(keys, 'trust.json');
  const enrolment =
    own &&
    secure &&
    (await certificates?.startEnrolment(
      {
        ...own,
        registry,
        states,
        secure,
        data,
        trust,
        clock,
        log,
        host: hosts?.http ?? LOCAL,
        broker: (name) => (embedded === undefined ? broker.url : `mqtts://${name}:${new URL(embedded.url).port}`),
        renewed: (made) => {
          embedded?.renew(made);
          server.reload();
        },
      },
      teardowns,
    ));
  const { inUse, fleets } = await states.current();
  return {
    broker: broker.url,
    ...(inUse ? { fleets: fleets.map(({ id }) => id) } : {}),
    interface: server,
    store: reader,
    trust,
    displaced,
    ...defined({ metrics: health.address, enrolment }),
  };
}

interface BrokerNeeds {
  readonly database: Pick<HubDatabase, 'reader' | 'registry' | 'locks'>;
  readonly states: RegistryStates;
  /** Unique to this hub. */
  readonly identity: string;
  readonly tls?: HubCertificates['tls'];
}

/** Starts the embedded broker or connects to an external one, where `displaced` resolves if a hub takes the name. */
async function connectBroker(
  { hosts, port, name, clock, log, broker: external }: HubOptions,
  receiving: HubBrokerParts,
  { database: { reader, registry, locks }, states, identity, tls }: BrokerNeeds,
): Promise<{
  readonly embedded?: Awaited<ReturnType<typeof startEmbedded>>;
  readonly broker: HubBroker;
  readonly displaced: Promise<VigieError>;
}> {
  let displace: (error: VigieError) => void = () => undefined;
  const displaced = new Promise<VigieError>((resolve) => {
    displace = resolve;
  });
  if (external !== undefined) {
    const broker = await connectExternal(external, {
      ...receiving,
      name: name ?? identity.slice(0, NAME_LENGTH),
      identity,
      known: async () => (await reader.vehicles()).map(({ vin }) => vin),
      locks,
      displaced: displace,
      log,
    });
    return { broker, displaced };
  }
  const embedded = await startEmbedded(
    {
      ...defined({ host: hosts?.broker, tls }),
      port,
      identify: clientRights(states, registry),
      refused: refusalLog(clock, log),
      failed: (client, error) => log.error('hub.client.failed', { client, reason: String(error) }),
      after: (delay, due) => clock.after(delay, due),
    },
    receiving,
  );
  return { embedded, broker: embedded, displaced };
}

/** Returns the address on which other machines can reach broker or interface, if any. */
function exposedHost({ broker = LOCAL, http = LOCAL }: NonNullable<HubOptions['hosts']> = {}): string | undefined {
  return [broker, http].find((host) => !isLoopback(host));
}

/** @throws VigieError `usage.wrong` if others could use the hub without access control or encryption */
async function requireProtection(where: string, secure: SecureHub | undefined, registry: Registry): Promise<void> {
  if (secure === undefined) {
    throw new VigieError('usage.wrong', 'a hub that listens beyond this machine needs TLS: --tls', { where });
  }
  if (await registry.inUse()) return;
  const text = 'a hub that listens beyond this machine needs access control: register a car first (vigie hub add)';
  throw new VigieError('usage.wrong', text, { where });
}

/** Length of a hub's default name, in hexadecimal digits of its key. */
const NAME_LENGTH = 12;

/** Name of the hub's key in its directory of keys. */
const KEY = 'hub';

/** Returns the signing key of the hub. Generates it at the first start. Rejects as {@link CommandSigner.open} does. */
async function commandKey(directory: string): Promise<CommandKey> {
  if (!(await listKeys(directory)).some(({ name }) => name === KEY)) {
    await generateKey(directory, KEY, {
      algorithm: 'Ed25519',
      kinds: [...remoteTypes, 'Resend', 'Configuration', 'Monitor'],
    });
  }
  const signer = await CommandSigner.open(directory, KEY);
  return { id: Buffer.from(signer.keyId).toString('hex'), sign: (payload) => signer.seal(payload) };
}
