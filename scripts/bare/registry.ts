/** Proxy for the npm registry on a Unix socket: the only server that a machine without a network can reach. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';

/** Serves responses of the registry on the Unix socket at `path`. The caller must close the server at the end. */
export async function serveRegistry(path: string, registry: string): Promise<Server> {
  const server = createServer((request, response) => {
    const asked = new URL(`.${request.url ?? '/'}`, registry.replace(/\/?$/, '/'));
    const { accept = '*/*' } = request.headers;
    fetch(asked, { method: request.method ?? 'GET', headers: { accept } })
      .then(async ({ status, headers, body }) => {
        const type = headers.get('content-type') ?? 'application/octet-stream';
        response.writeHead(status, { 'content-type': type });
        if (body === null) response.end();
        else await pipeline(Readable.fromWeb(body as ReadableStream), response);
      })
      .catch((error: Error) => {
        console.error(`the registry cannot be read: ${error.message}`);
        response.destroy(error);
      });
  });
  server.listen(path);
  await once(server, 'listening');
  return server;
}
