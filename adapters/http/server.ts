/** Serves the connected-vehicle interface over HTTP. */

import { once } from 'node:events';
import { Server as SecureServer } from 'node:https';
import { type AddressInfo, isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { FaultView } from '../../agent/faults/recorder.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import type { SignalView } from '../../agent/signals/view.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { type Operation, type Side, sides } from '../../protocol/interface/operation.ts';
import type { InterfaceSettings, RequestRates } from '../../protocol/settings.ts';
import type { Gate } from './access/credentials.ts';
import type { LanDoor } from './access/lan.ts';
import { LocalGate } from './access/local.ts';
import { authorityOf, readPairs } from './address.ts';
import { addBus } from './bus.ts';
import type { Handlers } from './call.ts';
import { addCaptures, type CaptureView } from './captures.ts';
import { addDocuments, type Documents } from './documents.ts';
import { type App, headerOf, openExchange, type RequestContext, respond } from './exchange.ts';
import { addExits, type ServedExit } from './exits.ts';
import { addFaults } from './faults.ts';
import { Hosts, isLoopback } from './hosts.ts';
import { IdempotentAnswers } from './idempotency.ts';
import { bounds, createListener, type ListenerBounds, type ServerTlsFiles, watchCertificates } from './listener.ts';
import type { LiveChanges } from './live.ts';
import { isSameOrigin } from './origins.ts';
import { addLive, addOwnRoutes, type OwnView } from './own-routes.ts';
import { TrustedProxies } from './proxies.ts';
import { RateLimiter } from './rates.ts';
import { refuse, refuseUnread } from './refusals.ts';
import { addOperations, Router, requireHandlers } from './routes.ts';
import { Serving } from './serving.ts';
import { SignalRoutes } from './signals.ts';
import type { Snapshots } from './snapshots.ts';

export interface ServerOptions extends InterfaceSettings {
  /** Selects rows of the access table. If omitted, those of a car. */
  readonly access?: 'car' | 'hub';
  /** All operations, including those of disabled sides. */
  readonly operations: readonly Operation[];
  readonly handlers: Handlers;
  /** Gates by side; a side without a gate is not served. */
  readonly gates: Readonly<Partial<Record<Side, Gate>>>;
  /** Address to listen on; port 0 selects any free port. */
  readonly host: string;
  readonly port: number;
  readonly tls?: ServerTlsFiles;
  /** External URL of the interface, without a final slash. If omitted, the URL of each request is used. */
  readonly url?: string;
  /** Names and addresses of the server, in addition to those that it accepts anyway ({@link Hosts.has}). */
  readonly hosts?: readonly string[];
  /** Addresses and networks of proxies that may report a client's address ({@link TrustedProxies}). Default: none. */
  readonly trustedProxies?: readonly string[];
  readonly bounds?: Partial<ListenerBounds>;
  /** Changes of Status. If omitted, `/live` does not exist. */
  readonly live?: LiveChanges;
  /** Content of `/vigie/v1`. If omitted, that path does not exist. */
  readonly own?: { readonly view: OwnView; readonly snapshots: Snapshots };
  readonly documents?: Documents;
  /** Adds further routes. */
  readonly routes?: (router: Router) => void;
  /** Handles requests to other paths; omitted: they are rejected. A bench's agent handles them and checks access. */
  readonly others?: (context: RequestContext) => Response | Promise<Response>;
  /** Checks each request before everything else, even before the page. If omitted, there is no such check. */
  readonly door?: LanDoor;
  /** Custom signals. If omitted, the car has none. */
  readonly signals?: SignalView;
  /** Captures of raw frames. If omitted, the car makes none. */
  readonly captures?: CaptureView;
  /** Exits of the car. If omitted, their path does not exist. */
  readonly exits?: readonly ServedExit[];
  /** Fault codes. If omitted, the agent does not read them. */
  readonly faults?: FaultView;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RunningServer {
  /** URL on which it listens, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The server's routes, with parameters in braces. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /** Loads renewed certificates immediately. Otherwise, the server checks for them every minute. */
  reload(): void;
  /** Waits for open requests, at most 5 s ({@link ListenerBounds.finish}); resolves when the port is free. */
  stop(): Promise<void>;
}

const MISDIRECTED = 'Host: is another than this server has; further ones are configured (http.hosts)';
const NO_TOKEN = 'open the newest address that the bench printed: its token lets one browser in';
const FOREIGN_ORIGIN = 'a web page of another origin sent this request: open the page of this server';
/**
 * Rate limit for all clients without credentials together. Several people may open the page, which requests up to ten
 * files and fails if one is missing.
 */
const documentRates: RequestRates = { perDay: 100_000, perSecond: 100 };

/**
 * Rejects with `usage.wrong` if operations and handlers do not match or the address is not available, and with
 * `configuration.wrong` if the interface would be open to the network.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { operations, handlers, gates, tls, host, clock, log, live, own } = options;
  requireHandlers(operations, handlers);
  requireProtection(options);
  const { app, signals } = buildApp(options);
  const hosts = hostsOf(options);
  const serve = (request: Request, env: HttpBindings) => answer(app, options, { ...env, connections }, hosts, request);
  const listener = getRequestListener((request, env) => serve(request, env as HttpBindings), {
    overrideGlobalObjects: false,
    // The listener itself manages connections and their time limits.
    autoCleanupIncoming: false,
    hostname: 'localhost',
    errorHandler: (error) => {
      log.info('http.malformed', { error: reasonOf(error) });
      const { headers, body } = refuseUnread('address: must be a path or URL, with a valid Host', clock.now());
      return new Response(body, { status: 400, headers: { ...headers, Connection: 'close' } });
    },
  });
  const { server, connections } = createListener(
    (incoming, outgoing) => {
      listener(incoming, outgoing).catch((error: Error) => {
        log.error('http.answerFailed', { error: error.message });
        outgoing.destroy();
      });
    },
    tls,
    { ...bounds, ...options.bounds },
    clock,
    log,
  );
  server.listen({ host, port: options.port });
  await once(server, 'listening').catch((cause: unknown) => {
    throw unavailable(`${host}:${options.port}`, cause);
  });
  // If a connection cannot be accepted, for example for lack of memory, the server continues without it.
  server.on('error', (error) => log.error('http.fault', { error: error.message }));
  const { port } = server.address() as AddressInfo;
  const watch =
    server instanceof SecureServer && tls !== undefined ? watchCertificates(server, tls, clock, log) : undefined;
  const name = host.includes(':') ? `[${host}]` : host;
  const enabled = sides.filter((side) => gates[side] !== undefined);
  log.info('http.ready', { host, port, tls: tls !== undefined, sides: enabled });
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${name}:${port}`,
    routes: routesOf(app),
    reload: () => watch?.now(),
    stop: async () => {
      watch?.stop();
      const closed = new Promise((resolve) => server.close(resolve));
      live?.close();
      signals?.close();
      own?.snapshots.close();
      connections.stop();
      await closed;
    },
  };
}

/** @throws VigieError `configuration.wrong` if other machines could use the server without credentials or encryption */
function requireProtection({ host, tls, gates }: ServerOptions): void {
  if (sides.every((side) => gates[side] === undefined)) {
    throw new VigieError('configuration.wrong', 'the HTTP interface has no users: configure fleet or user', {
      where: 'http',
    });
  }
  if (isLoopback(host)) return;
  if (tls === undefined) {
    throw new VigieError('configuration.wrong', 'listens beyond this machine (loopback) and needs TLS for that', {
      where: 'http',
    });
  }
  if (sides.some((side) => gates[side] instanceof LocalGate)) {
    throw new VigieError('configuration.wrong', 'listens beyond this machine (loopback) and needs access control', {
      where: 'http',
    });
  }
}

function buildApp(options: ServerOptions): { readonly app: App; readonly signals?: SignalRoutes | undefined } {
  const { operations, gates, clock, log, live, own, documents } = options;
  const enabled = sides.filter((side) => gates[side] !== undefined);
  const serving = new Serving({
    handlers: options.handlers,
    gates,
    rates: new RateLimiter(options, clock),
    idempotent: new IdempotentAnswers(clock),
    limits: options,
    proxies: new TrustedProxies(options.trustedProxies ?? []),
    clock,
    log,
  });
  const router = new Router(options.access ?? 'car', serving, enabled);
  const served = operations.filter(({ side }) => enabled.includes(side));
  addOperations(router, served, serving);
  if (live !== undefined) addLive(router, live);
  if (own !== undefined) addOwnRoutes(router, own.view, own.snapshots);
  if (own?.view.bus !== undefined) addBus(router, own.view.bus, own.snapshots);
  if (options.captures !== undefined) addCaptures(router, options.captures);
  const signals = options.signals && new SignalRoutes(options.signals, clock, router);
  if (options.faults !== undefined) addFaults(router, options.faults);
  if (options.exits !== undefined) addExits(router, options.exits, clock);
  options.routes?.(router);
  if (documents !== undefined) addDocuments(router, documents, new RateLimiter(documentRates, clock));
  const refused = ({ env }: RequestContext): Response =>
    refuse(env, new VigieError('request.unknown', 'there is nothing at this path'), log);
  const app = router.finish(options.others ?? refused);
  app.onError((error, { env }) => refuse(env, error, log));
  return { app, signals };
}

/** Returns the routes that were added, without those that reject other methods. */
function routesOf({ routes }: App): RunningServer['routes'] {
  return routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => ({ method, path: path.replaceAll(/:(\w+)/g, '{$1}') }));
}

function hostsOf({ host, hosts = [], url }: ServerOptions): Hosts {
  // Omit addresses: {@link Hosts.has} accepts the connection's local address anyway, and `host` may be the wildcard.
  return new Hosts([...(isIP(host) > 0 ? [] : [host]), ...hosts, ...(url === undefined ? [] : [new URL(url).host])]);
}

async function answer(
  app: App,
  { clock, log, url, door }: ServerOptions,
  env: Omit<RequestContext['env'], 'exchange'>,
  hosts: Hosts,
  request: Request,
): Promise<Response> {
  const started = clock.monotonic();
  const { socket } = env.incoming;
  const opened = openExchange({
    address: request.url,
    secure: socket instanceof TLSSocket,
    asked: headerOf(env.incoming, 'x-request-id'),
    now: clock.now(),
  });
  const exchange = url === undefined ? opened : { ...opened, origin: url };
  const bound = { ...env, exchange };
  const refusal = refusalOf(env.incoming, authorityOf(request.url), hosts, url);
  const response =
    refusal === undefined
      ? ((door && answerAtDoor(door, bound, log)) ?? (await app.fetch(request, bound)))
      : refuse(bound, refusal, log);
  log.info('http.request', {
    id: exchange.id,
    operation: exchange.operation?.id,
    method: request.method,
    status: exchange.status,
    caller: exchange.caller?.name,
    ms: Math.round(clock.monotonic() - started),
  });
  return response;
}

/** Returns the response of the door, or undefined if the request may enter. */
function answerAtDoor(door: LanDoor, env: RequestContext['env'], log: Log): Response | undefined {
  const { incoming, exchange } = env;
  const { path, query } = exchange.target;
  const answer = door.open({
    method: incoming.method ?? 'GET',
    path,
    token: readPairs(query).find(([name]) => name === 'token')?.[1],
    cookies: headerOf(incoming, 'cookie'),
  });
  if (answer === 'in') return undefined;
  if (answer === 'out') return refuse(env, new VigieError('request.forbidden', NO_TOKEN), log);
  return respond(env, 303, undefined, { Location: '/' }, answer.cookies);
}

/** Returns the error of a request that must be rejected before its path is examined, or undefined. */
function refusalOf(
  { method = 'GET', headers, socket }: HttpBindings['incoming'],
  authority: string,
  hosts: Hosts,
  url: string | undefined,
): VigieError | undefined {
  if (!hosts.has(authority, socket)) return new VigieError('request.misdirected', MISDIRECTED);
  const own = [authority, ...(url === undefined ? [] : [new URL(url).host])];
  return isSameOrigin(method, headers, own) ? undefined : new VigieError('request.forbidden', FOREIGN_ORIGIN);
}

function unavailable(where: string, cause: unknown): VigieError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const text =
    code === 'EADDRINUSE'
      ? 'another program listens on this port (end it, or choose another port)'
      : code === 'EACCES'
        ? 'this user may not listen on this port (choose one above 1023)'
        : code === 'EADDRNOTAVAIL'
          ? 'this machine does not have that address'
          : `cannot listen: ${reasonOf(cause)}`;
  return new VigieError('usage.wrong', text, { where, cause });
}
