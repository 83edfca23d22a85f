/** A small read-only HTTP server for the agent's status, on a Unix socket or the loopback interface. */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { metricsPaths } from '../../protocol/interface/metrics-paths.ts';

/** Address to listen on. */
export type ListenAddress =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'loopback'; readonly host: string; readonly port: number };

/** Returns the body for one path, with its media type. */
type Page = () => Promise<{ readonly type: string; readonly body: string }>;

export interface StatusServer {
  /** Address on which the server listens, e.g. `127.0.0.1:9464`. */
  readonly address: string;
  close(): Promise<void>;
}

/** Time limit in ms for request plus response. The client is on the same machine and needs less than a second. */
const PATIENCE = 5_000;

/**
 * Serves each of `pages` at its path.
 * @throws VigieError `input.unreadable` if the address is in use or not available
 * @throws Error if a path in `pages` is not in the access table
 */
export async function serve(
  place: ListenAddress,
  pages: Readonly<Record<string, Page>>,
  kind: keyof typeof metricsPaths = 'car metrics',
): Promise<StatusServer> {
  const allowed: readonly string[] = metricsPaths[kind];
  const unknown = Object.keys(pages).find((path) => !allowed.includes(path));
  if (unknown !== undefined) throw new Error(`GET ${unknown} of ${kind} has no row in the table of access`);
  // Node's periodic check for late requests would wake the process for ever; instead, connections have a time limit.
  const server = createServer({ connectionsCheckingInterval: 2 ** 31 - 1 }, (request, response) => {
    // If a client disconnects, only its own response ends.
    response.on('error', () => response.destroy());
    answer(request, response, pages).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end(`${reasonOf(error)}\n`);
    });
  });
  server.on('connection', (socket) => {
    const late = setTimeout(() => socket.destroy(), PATIENCE);
    socket.once('close', () => clearTimeout(late));
  });
  server.maxConnections = 16;
  const path = place.kind === 'unix' ? place.path : undefined;
  if (path !== undefined) await removeStale(path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const where = path ?? `${(place as { host: string }).host}:${(place as { port: number }).port}`;
      reject(new VigieError('input.unreadable', `cannot be listened on: ${cause.message}`, { where, cause }));
    });
    if (place.kind === 'unix') server.listen(place.path, resolve);
    else server.listen(place.port, place.host, resolve);
  });
  // If a connection cannot be accepted, e.g. for lack of memory, only that client is affected, and it notices.
  server.on('error', () => undefined);
  if (path !== undefined) chmodSync(path, 0o660);
  // Do not let the server keep the process alive.
  server.unref();
  return { address: addressOf(server), close: () => closed(server) };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  pages: Readonly<Record<string, Page>>,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] as string;
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end(`there are ${Object.keys(pages).join(' and ')}\n`);
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
    return;
  }
  const { type, body } = await page();
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store', connection: 'close' });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Removes a socket that a killed process left behind, but not one on which a process listens. */
async function removeStale(path: string): Promise<void> {
  const answered = await new Promise<boolean>((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
  if (answered) throw new VigieError('input.unreadable', 'another process listens here already', { where: path });
  rmSync(path, { force: true });
}

function addressOf(server: Server): string {
  const address = server.address();
  if (typeof address === 'string') return address;
  return address === null ? '' : `${address.address}:${address.port}`;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
