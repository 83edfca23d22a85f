/** The socket side of the server: TLS, and limits on connections. */
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
  /** Certificate authorities that sign client certificates. If omitted, clients need no certificate. */
  readonly clientCa?: string;
}

export interface ListenerBounds extends ConnectionBounds {
  /** Time limit in ms for receiving a whole request. */
  readonly request: number;
  /** Maximum size in bytes of the request line plus headers. */
  readonly headers: number;
  /** Time in ms after which a connection without traffic is closed. */
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

/** Interval in ms at which the certificate files are checked. */
const RELOAD = 60_000;

interface Listener {
  readonly server: Server | SecureServer;
  readonly connections: Connections;
}

/** Creates a server that does not listen yet. @throws VigieError `configuration.wrong` for a file that is not PEM */
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
    // The request listener itself rejects a request without Host, with an explanation.
    requireHostHeader: false,
    noDelay: true,
  };
  const listener: RequestListener = (incoming, outgoing) => {
    connections.answers(outgoing);
    // A failed write, for example after a disconnection, ends only this response.
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
    // An error response has already been sent: wait until the client has received it and disconnects.
    if (refused.has(socket)) return;
    // A response needs a request (RFC 9112 §9.2). A browser opens connections in advance, and would take an error for
    // the response to the request that it sends next.
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

/** Maximum delay of a timer in ms. */
const NEVER = 2 ** 31 - 1;

/**
 * Lets Node check for overdue requests every `every` ms, but only while a client is connected, so that a unit without
 * connections stays asleep.
 */
function checkWhileConnected(server: Server | SecureServer, every: number): void {
  const checked = server as (Server | SecureServer) & { connectionsCheckingInterval: number };
  let connections = 0;
  const checkEvery = (interval: number): void => {
    checked.connectionsCheckingInterval = interval;
    // Node sets this timer, replacing the previous one, when a server starts to listen.
    server.emit('listening');
  };
  server.on('connection', (socket) => {
    if (connections++ === 0) checkEvery(every);
    socket.once('close', () => {
      if (--connections === 0 && server.listening) checkEvery(NEVER);
    });
  });
}

/** Node accepts any client certificate: the gate checks it and can report the reason. No TLS below 1.2 (RFC 8996). */
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
 * Loads renewed certificate files for future connections. If the files are incomplete, logs this, tries again, and
 * keeps using the previous certificates.
 * @returns `now` checks at once, `stop` ends the checks
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

/** Responds to an unreadable or late request with the reason for its rejection. */
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
    // The rest of a late request must not be read after the error response.
    if (late) socket.destroy();
  });
  // Same reason as {@link Connections.linger}.
  const cancel = clock.after(linger, () => socket.destroy());
  socket.once('close', cancel);
}
