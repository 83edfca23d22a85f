/** The TCP connections of the embedded broker: limits on their number and on the time in which a client must log in. */
import type { Server, Socket } from 'node:net';
import { type ConnectionLimits, ConnectionSlots } from '../../agent/connection-slots.ts';

/** A connection counts as waiting until its client is admitted. TLS uses most of its memory, about 60 KiB. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  all: 10_000,
  waiting: 512,
  waitingPerAddress: 64,
  keptPerAddress: 16,
};
/** Time limit in ms from the first packet of a connection until its CONNECT has been admitted. */
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

  /** Admits the client on this socket. Its connection is no longer closed to make room, and its time limit ends. */
  admit(socket: Socket): void {
    const client = clientOf(socket);
    this.#slots.admit(client);
    this.#open.get(client)?.cancel();
  }

  /** Destroys all connections, including those whose handshake is not complete. */
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

/** Returns the identity of a connection. With TLS, the client's socket object differs from the connection's. */
function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
