/** The TCP connections of the embedded broker: how many there may be, and how long a client may take until it is known. */
import type { Server, Socket } from 'node:net';
import { type ConnectionLimits, ConnectionSlots } from '../../agent/connection-slots.ts';

/** A connection waits until its client is let in. Of the memory of one, TLS takes the most: some 60 KiB. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  all: 10_000,
  waiting: 512,
  waitingPerAddress: 64,
  keptPerAddress: 16,
};
/** From the first packet of a connection to the end of the CONNECT that is let in, ms. */
export const CONNECT_MS = 20_000;

interface Waiting {
  readonly socket: Socket;
  readonly cancel: () => void;
}

export class BrokerConnections {
  readonly #slots: ConnectionSlots<string>;
  readonly #after: (delay: number, due: () => void) => () => void;
  readonly #refused: (address: string, reason: string) => void;
  readonly #open = new Map<string, Waiting>();

  constructor(
    server: Server,
    limits: ConnectionLimits,
    after: (delay: number, due: () => void) => () => void,
    refused: (address: string, reason: string) => void,
  ) {
    this.#slots = new ConnectionSlots(limits);
    this.#after = after;
    this.#refused = refused;
    server.prependListener('connection', (socket: Socket) => this.#opened(socket));
  }

  /** The client on this socket is let in: it is never closed for another, and has all the time that it wants. */
  admit(socket: Socket): void {
    const client = clientOf(socket);
    this.#slots.admit(client);
    this.#open.get(client)?.cancel();
  }

  /** Ends all of them, also those that have not come to the end of their handshake. */
  destroy(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #opened(socket: Socket): void {
    const client = clientOf(socket);
    const address = socket.remoteAddress ?? '';
    const cancel = this.#after(CONNECT_MS, () => {
      this.#refused(address, `no client was let in within ${CONNECT_MS / 1_000} s`);
      socket.destroy();
    });
    this.#open.set(client, { socket, cancel });
    socket.once('close', () => {
      cancel();
      this.#open.delete(client);
      this.#slots.delete(client);
    });
    const closed = this.#slots.add(client, address);
    if (closed === undefined) return;
    const victim = this.#open.get(closed)?.socket;
    this.#refused(victim?.remoteAddress ?? '', 'too many connections wait to be let in');
    victim?.destroy();
  }
}

/** No two open connections of the server have the same; over TLS the client comes on another socket than the connection. */
function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
