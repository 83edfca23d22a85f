/** The HTTP interface of a running agent. */

import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JWTVerifyGetKey } from 'jose';
import type { Gate } from '../adapters/http/access/credentials.ts';
import { FleetGate } from '../adapters/http/access/fleet.ts';
import type { LanDoor } from '../adapters/http/access/lan.ts';
import { LocalGate } from '../adapters/http/access/local.ts';
import { readPasswordHash } from '../adapters/http/access/password.ts';
import { keysByAddress, keysOfFiles, keysOfPem, keysOfSet } from '../adapters/http/access/token-keys.ts';
import { UserGate } from '../adapters/http/access/user.ts';
import type { CaptureView } from '../adapters/http/captures.ts';
import { type Documents, pageFiles } from '../adapters/http/documents.ts';
import type { ServedExit } from '../adapters/http/exits.ts';
import type { ServerTlsFiles } from '../adapters/http/listener.ts';
import { LiveChanges } from '../adapters/http/live.ts';
import type { BenchControls } from '../adapters/http/own-routes.ts';
import { PageTokens } from '../adapters/http/paging.ts';
import type { CarView } from '../adapters/http/resources/car.ts';
import { handlers } from '../adapters/http/resources/index.ts';
import { type RunningServer, startServer } from '../adapters/http/server.ts';
import { Snapshots } from '../adapters/http/snapshots.ts';
import type { FaultView } from '../agent/faults/recorder.ts';
import type { Status } from '../agent/model/status.ts';
import type { Clock, Log } from '../agent/ports.ts';
import type { SignalView } from '../agent/signals/view.ts';
import { readSecret } from '../config/credentials.ts';
import type { HttpConfiguration, UserConfiguration } from '../config/http.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import type { Side } from '../protocol/interface/operation.ts';
import { operations } from '../protocol/interface/operations.ts';
import type { MapTiles } from '../protocol/interface/own/car-description.ts';
import { defaultsOf, type InterfaceSettings, interfaceSettings } from '../protocol/settings.ts';
import { type OwnOptions, ownViewOf } from './own-view.ts';
import { retryUntilSound } from './retry.ts';

/** HTTP server of a bench that can be reached from the local network. */
export interface LanServing {
  readonly host: string;
  readonly tls: ServerTlsFiles;
  /** Admits only clients that have the token. */
  readonly door: LanDoor;
}

/** HTTP server of a bench: both APIs without access control, on the loopback interface unless `lan` is set. */
export interface LocalHttp {
  readonly local: true;
  readonly port: number;
  readonly bench?: BenchControls;
  readonly lan?: LanServing;
  /** Map tiles of the page. If omitted, the page loads no tiles. */
  readonly tiles?: MapTiles | undefined;
  /** URL of this server behind a proxy, without a final slash. If omitted, the URL of each request is used. */
  readonly url?: string;
}

export interface InterfaceOptions {
  readonly http: HttpConfiguration | LocalHttp;
  /** The car's data for the published API. */
  readonly view: CarView;
  /** The car's data for `/vigie/v1`. */
  readonly own: Omit<OwnOptions, 'served'>;
  /** Source of the changes that `/live` sends. */
  readonly status: Status;
  /** Custom signals of the car. If omitted, it has none. */
  readonly signals?: SignalView | undefined;
  /** Captures of the car. If omitted, its profile requests none. */
  readonly captures?: CaptureView | undefined;
  /** Exits of the car, read at each request. */
  readonly exits?: readonly ServedExit[];
  /** Fault codes of the car. If omitted, the agent does not read them. */
  readonly faults?: FaultView | undefined;
  /** Directory of records and state. */
  readonly data: string;
  /** Returns false while the time is unknown, so that tokens cannot be checked. */
  readonly timeKnown: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** A bench needs no limits; these are so high that they only appear in response headers. */
export const BENCH_LIMITS: InterfaceSettings = {
  ...defaultsOf(interfaceSettings),
  perDay: 1_000_000_000,
  perSecond: 1_000_000,
};

/**
 * Starts the interface. Call `stop` of the result before the agent stops. Rejects with `configuration.wrong` or
 * `input.unreadable` for invalid key files, and like `startServer`.
 */
export async function startInterface(options: InterfaceOptions): Promise<RunningServer> {
  const { http, view, own, status, data, clock, log } = options;
  const live = new LiveChanges(status, clock);
  const documents = findDocuments(log);
  const { tiles } = http;
  const served = {
    ...(options.captures === undefined ? {} : { captures: true }),
    ...(options.faults === undefined ? {} : { faults: true }),
    ...defined({ tiles }),
  };
  const server = await startServer({
    operations,
    handlers: handlers(view, new PageTokens(pageKey(join(data, 'pages.key'), log))),
    clock,
    log,
    live,
    own: { view: ownViewOf({ ...own, served }), snapshots: new Snapshots(clock) },
    exits: options.exits ?? [],
    ...defined({ signals: options.signals, captures: options.captures, faults: options.faults }),
    ...(documents === undefined ? {} : { documents: { ...documents, ...(tiles && { tiles: tiles.url }) } }),
    ...('local' in http
      ? {
          port: http.port,
          ...BENCH_LIMITS,
          ...localServing(http.lan),
          ...defined({ url: http.url }),
        }
      : { ...http, gates: gatesOf(http, options) }),
  });
  // Observe only after the server has started: a failed start must not leave an observer.
  status.observe(live);
  return server;
}

export function localServing(lan: LanServing | undefined) {
  const gate = lan?.door.gate ?? new LocalGate();
  return { host: '127.0.0.1', ...lan, gates: { fleet: gate, user: gate } };
}

/**
 * Like {@link startInterface}, but if a file is missing or damaged, or (only in a car) the port is in use, retries
 * until it succeeds.
 * Calls `trouble` with the reason, and with undefined once the problem has ended. Rejects with any other error that
 * prevents the start of the interface.
 */
export async function keepInterface(
  options: InterfaceOptions,
  trouble: (what: string | undefined) => void,
): Promise<Pick<RunningServer, 'stop'> & { readonly server?: RunningServer }> {
  const { clock, log } = options;
  let server: RunningServer | undefined;
  const attempt = async (): Promise<void> => {
    server = await startInterface(options);
  };
  const settle = await retryUntilSound({
    event: 'http.unavailable',
    attempt,
    trouble,
    // A bench reports a port in use immediately; the agent in a car records until the port is free.
    retried: [
      'configuration.wrong',
      'input.unreadable',
      ...('local' in options.http ? [] : (['usage.wrong'] as const)),
    ],
    clock,
    log,
  });
  const stop = async (): Promise<void> => {
    await settle();
    await server?.stop();
  };
  return { stop, ...defined({ server }) };
}

function gatesOf(
  { fleet, user }: HttpConfiguration,
  { clock, log, timeKnown }: Pick<InterfaceOptions, 'clock' | 'log' | 'timeKnown'>,
): Partial<Record<Side, Gate>> {
  const users = fleet?.map(({ passwordFile, ...one }) => ({
    ...one,
    password: readPasswordHash(readSecret(passwordFile), passwordFile),
  }));
  return {
    ...(users === undefined ? {} : { fleet: new FleetGate(users, clock) }),
    ...(user === undefined
      ? {}
      : { user: new UserGate({ ...user, keys: keysOf(user, clock, log), timeKnown }, clock) }),
  };
}

function keysOf({ jwks, keys = [] }: UserConfiguration, clock: Clock, log: Log): JWTVerifyGetKey {
  if (jwks !== undefined && /^https?:\/\//.test(jwks)) return keysByAddress(jwks);
  const files = jwks === undefined ? keys : [jwks];
  return keysOfFiles({
    read: () => files.map(readText),
    make: (texts) =>
      jwks === undefined
        ? keysOfPem(texts.map((pem, index) => ({ pem, where: keys[index] ?? '' })))
        : keysOfSet(texts[0] ?? '', jwks),
    clock,
    log,
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new VigieError('input.unreadable', (cause as Error).message, { where: file, cause });
  }
}

const KEY_LENGTH = 32;

/** Returns the key of page tokens. It is stored, so that clients can continue from page to page after a restart. */
export function pageKey(file: string, log: Log): Uint8Array {
  const known = existsSync(file) ? readFileSync(file) : undefined;
  if (known?.byteLength === KEY_LENGTH) return known;
  const key = randomBytes(KEY_LENGTH);
  try {
    writeFileSync(file, key, { mode: 0o600 });
    chmodSync(file, 0o600);
  } catch (error) {
    log.warn('http.pageKeyUnwritten', { error: (error as Error).message });
  }
  return key;
}

/**
 * Returns the OpenAPI document, Swagger UI and the page, from `documents/` next to the bundled program or from the
 * project's folders. They may be absent in a car.
 */
export function findDocuments(log: Log): Documents | undefined {
  const address: string | undefined = import.meta.url;
  const here = address === undefined ? dirname(process.execPath) : dirname(fileURLToPath(address));
  const bundled = join(here, 'documents');
  const openApi = [join(bundled, 'openapi.json'), join(here, '../protocol/generated/openapi.json')].find(existsSync);
  if (openApi === undefined) {
    log.warn('http.noDocument', { sought: bundled });
    return undefined;
  }
  const swaggerUi = [join(bundled, 'swagger-ui'), installed(address)].find(
    (folder) => folder !== undefined && existsSync(join(folder, 'swagger-ui-bundle.js')),
  );
  const page = [join(bundled, 'page'), join(here, '../page/generated')].find((folder) =>
    pageFiles.every(([file]) => existsSync(join(folder, file))),
  );
  return {
    openApi,
    ...defined({ swaggerUi, page }),
  };
}

/** Returns the folder of the installed package `swagger-ui-dist`, or undefined. */
function installed(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const packages = createRequire(address).resolve.paths('swagger-ui-dist') ?? [];
  return packages.map((folder) => join(folder, 'swagger-ui-dist')).find(existsSync);
}
