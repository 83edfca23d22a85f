/**
 * A WebSocket receiver that follows docs/callbacks.md: it acknowledges, remembers the last id, and drops connections.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface Frame {
  readonly id: string;
  readonly message: unknown;
}

export class WebsocketReceiver {
  /** Every received frame, repeats included. */
  readonly frames: Frame[] = [];
  /** Number of opened connections. */
  connections = 0;
  /** Reaction to a frame; acknowledges by default. */
  behaviour: (frame: Frame, socket: WebSocket) => void = (frame, socket) => this.acknowledge(frame, socket);
  /** If true, the handshake contains the id of the last frame received. */
  resumes = true;
  last: string | undefined;
  #server: Server | undefined;
  #sockets: WebSocketServer | undefined;
  #port = 0;
  #waiting: { readonly count: number; readonly go: () => void }[] = [];

  get url(): string {
    return `ws://127.0.0.1:${this.#port}/events`;
  }

  acknowledge({ id }: Frame, socket: WebSocket): void {
    this.last = id;
    socket.send(JSON.stringify({ ack: id }));
  }

  async open(): Promise<this> {
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    sockets.on('headers', (headers) => {
      if (this.resumes && this.last !== undefined) headers.push(`Vigie-Last-Event-Id: ${this.last}`);
    });
    sockets.on('connection', (socket) => {
      this.connections++;
      socket.on('error', () => undefined);
      socket.on('message', (data) => {
        const frame = JSON.parse(String(data)) as Frame;
        this.frames.push(frame);
        this.behaviour(frame, socket);
        for (const { count, go } of this.#waiting) if (this.frames.length >= count) go();
      });
    });
    this.#server = server;
    this.#sockets = sockets;
    await new Promise<void>((done) => server.listen(this.#port, '127.0.0.1', done));
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  /** Resolves when `count` frames have arrived. */
  async seen(count: number): Promise<void> {
    if (this.frames.length >= count) return;
    await new Promise<void>((go) => this.#waiting.push({ count, go }));
  }

  get clients(): readonly WebSocket[] {
    return [...(this.#sockets?.clients ?? [])];
  }

  async close(): Promise<void> {
    for (const socket of this.clients) socket.terminate();
    this.#sockets?.close();
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}
