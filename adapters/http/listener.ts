/** The socket side of the server: TLS, and bounds on what connections may take. */
import { readFileSync, statSync } from 'node:fs';
import { createServer as createPlainServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import {
  createServer as createSecureServer,
  type ServerOptions as SecureOptions,
  type Server as SecureServer,
} from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import type { Clock, Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import { type ConnectionBounds, Connections } from './connections.ts';
import { refuseUnread } from './refusals.ts';

/** Files in PEM. */
export interface ServerTlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Authorities for clients' certificates. If omitted, clients need none. */
  readonly clientCa?: string;
}

export interface ListenerBounds extends ConnectionBounds {
  /** For a whole request to come, ms. */
  readonly request: number;
  /** Bytes of the request line and headers. */
  readonly headers: number;
  /** A connection on which nothing moves is closed, ms. */
  readonly idle: number;
}

export const bounds: ListenerBounds = {
  connections: 256,
  idlePerAddress: 64,
  handshake: 10_000,
  request: 10_000,
  headers: 16_384,
  idle: 60_000,
  linger: 5_000,
  finish: 5_000,
};

/** How often the files of certificates are looked at, ms. */
const RELOAD = 60_000;

interface Listener {
  readonly server: Server | SecureServer;
  readonly connections: Connections;
}

/** A server that does not listen yet. @throws VigieError `configuration.wrong` naming the file that is not a PEM */
export function createListener(
  answer: RequestListener,
  tls: ServerTlsFiles | undefined,
  bounds: ListenerBounds,
  clock: Clock,
  log: Log,
): Listener {
  const { request, headers, idle } = bounds;
  const options: ServerOptions = {
    maxHeaderSize: headers,
    headersTimeout: request,
    requestTimeout: request,
    connectionsCheckingInterval: NEVER,
    keepAliveTimeout: 15_000,
    // A request without Host is refused by the listener, which says so.
    requireHostHeader: false,
    noDelay: true,
  };
  const listener: RequestListener = (incoming, outgoing) => {
    connections.answers(outgoing);
    // A write that fails, as after the end of the connection, ends this answer alone.
    outgoing.on('error', () => outgoing.destroy());
    answer(incoming, outgoing);
  };
  const server =
    tls === undefined
      ? createPlainServer(options, listener)
      : secureServer({ ...options, ...secureOptions, requestCert: tls.clientCa !== undefined }, listener, tls);
  const connections = new Connections(server, bounds, clock, log);
  checkWhileConnected(server, Math.min(1_000, request));
  server.maxHeadersCount = 100;
  server.timeout = idle;
  // 100 Continue is sent when the body is read; other expectations are ignored.
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // After an unreadable request nothing can be read until the client has received the answer and disconnects.
    if (refused.has(socket)) return;
    // RFC 9112 §9.2: an answer belongs to a request. A browser opens connections before it has a request, and would take
    // a refusal for the answer to the one that it sends at that moment.
    const isUnused = (socket as Socket).bytesRead === 0;
    if (
      isUnused ||
      !connections.isReady(socket) ||
      connections.isAnswering(socket) ||
      !socket.writable ||
      isGone(error)
    ) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    refuseUnreadable(error, socket, bounds, clock);
  });
  return { server, connections };
}

function secureServer(options: SecureOptions, listener: RequestListener, tls: ServerTlsFiles): SecureServer {
  const files = secrets(tls);
  try {
    return createSecureServer({ ...options, ...files }, listener);
  } catch (cause) {
    const fault = `is not PEM, damaged, or not the key of ${tls.cert}: ${(cause as Error).message}`;
    throw new VigieError('configuration.wrong', fault, { where: tls.key, cause });
  }
}

/** The longest that a timer takes, ms. */
const NEVER = 2 ** 31 - 1;

/**
 * Has requests that do not come in time looked for every so many ms, while somebody is connected: nothing wakes the unit
 * for the sake of connections that it does not have.
 */
function checkWhileConnected(server: Server | SecureServer, every: number): void {
  const checked = server as (Server | SecureServer) & { connectionsCheckingInterval: number };
  let connections = 0;
  const checkEvery = (interval: number): void => {
    checked.connectionsCheckingInterval = interval;
    // Node sets its timer, in place of the one before, where a server begins to listen.
    server.emit('listening');
  };
  server.on('connection', (socket) => {
    if (connections++ === 0) checkEvery(every);
    socket.once('close', () => {
      if (--connections === 0 && server.listening) checkEvery(NEVER);
    });
  });
}

/** The client's certificate is looked at by the gate, which can say what is missing. RFC 8996: no TLS below 1.2. */
const secureOptions = { minVersion: 'TLSv1.2', rejectUnauthorized: false } as const;

function secrets({ cert, key, clientCa }: ServerTlsFiles): SecureContextOptions {
  const read = (file: string): Buffer => {
    try {
      return readFileSync(file);
    } catch (cause) {
      throw new VigieError('input.unreadable', `cannot be read: ${(cause as Error).message}`, { where: file, cause });
    }
  };
  return { cert: read(cert), key: read(key), ...(clientCa === undefined ? {} : { ca: read(clientCa) }) };
}

/**
 * Loads certificates that were renewed on disk, for connections from then on. It logs half-written files and tries
 * again; until then the previous certificates stay.
 * @returns `now` looks at once, `stop` ends the watch
 */
export function watchCertificates(
  server: SecureServer,
  tls: ServerTlsFiles,
  clock: Clock,
  log: Log,
): { now(): void; stop(): void } {
  const files = [tls.cert, tls.key, ...(tls.clientCa === undefined ? [] : [tls.clientCa])];
  const state = (): string =>
    files
      .map((file) => statSync(file, { throwIfNoEntry: false }))
      .map((s) => `${s?.mtimeMs} ${s?.ino}`)
      .join();
  let known = state();
  let cancel: () => void;
  const now = (): void => {
    try {
      const found = state();
      if (found === known) return;
      server.setSecureContext({ ...secrets(tls), minVersion: secureOptions.minVersion });
      known = found;
      log.info('http.certificates.renewed', { cert: tls.cert });
    } catch (error) {
      log.error('http.certificates.kept', { cert: tls.cert, error: (error as Error).message });
    }
  };
  const tick = (): void => {
    now();
    cancel = clock.after(RELOAD, tick);
  };
  cancel = clock.after(RELOAD, tick);
  return { now, stop: () => cancel() };
}

function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/** An unreadable or late request still gets an answer that explains the refusal. */
function refuseUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  { headers: bytes, request, linger }: ListenerBounds,
  clock: Clock,
): void {
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const reason =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? `request line and headers must have at most ${bytes} bytes`
      : late
        ? `the request must come within ${request / 1000} s`
        : 'the request is not HTTP';
  const { headers, body } = refuseUnread(reason, clock.now());
  const lines = Object.entries({ ...headers, 'Content-Length': String(Buffer.byteLength(body)) }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.end(`HTTP/1.1 400 Bad Request\r\nConnection: close\r\n${lines.join('')}\r\n${body}`, () => {
    // The rest of a request that is late must not come after its refusal.
    if (late) socket.destroy();
  });
  // As with {@link Connections.linger}.
  const cancel = clock.after(linger, () => socket.destroy());
  socket.once('close', cancel);
}
