/** Receivers of notifications, as real servers on the loopback interface. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Addresses } from '../../../adapters/callbacks/addresses.ts';

/** Addresses that a car on a bench may connect to. */
export const loopback = new Addresses({ networks: ['127.0.0.0/8'], allowHttp: true });

export interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

export type Behaviour = (request: Received, response: ServerResponse, socket: Socket) => void;

export const accept: Behaviour = (_, response) => response.writeHead(200).end('ok');

/** A webhook receiver that can close and reopen on the same port. */
export class HttpReceiver {
  readonly received: Received[] = [];
  behaviour: Behaviour = accept;
  #server: Server | undefined;
  #port = 0;
  #waiting: (() => void)[] = [];

  get url(): string {
    return `http://127.0.0.1:${this.#port}/events`;
  }

  async open(): Promise<this> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { headers, method = '', url = '' } = request;
        const received = { headers, method, url, body: Buffer.concat(parts).toString() };
        this.received.push(received);
        for (const go of this.#waiting.splice(0)) go();
        this.behaviour(received, response, request.socket);
      });
    });
    // With a keep-alive limit, the server may close a connection just as a delayed process sends a request on it.
    server.keepAliveTimeout = 0;
    this.#server = server;
    await new Promise<void>((done) => server.listen(this.#port, '127.0.0.1', done));
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await closed;
  }

  /** Resolves when the next request arrives. */
  async next(): Promise<void> {
    await new Promise<void>((go) => this.#waiting.push(go));
  }
}
