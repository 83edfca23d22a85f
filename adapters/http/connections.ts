/** The TCP connections of the server: limits on their number and on their handshakes, and closing them. */
import type { IncomingMessage, Server as PlainServer, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ConnectionSlots } from '../../agent/connection-slots.ts';
import type { Clock, Log } from '../../agent/ports.ts';

export interface ConnectionBounds {
  /** Maximum number of connections. */
  readonly connections: number;
  /** Maximum number of idle connections from one address ({@link ConnectionLimits.waitingPerAddress}). */
  readonly idlePerAddress: number;
  /** Time limit in ms for a TLS handshake, from the first packet to the last. */
  readonly handshake: number;
  /** Time in ms that open requests get to finish when the server stops. */
  readonly finish: number;
  /** Time in ms that a client gets to receive an error response and to stop sending. */
  readonly linger: number;
}

interface Connection {
  /** The TCP socket; with TLS, requests use another socket object. */
  readonly tcp: Socket;
  /** Address and port of the client. */
  readonly client: string;
  /** Responses that are not completely sent. */
  readonly answers: Set<ServerResponse>;
  /** True if the last response is written but stays open until the body of its rejected request has been read. */
  lingers: boolean;
  /** Cancels the time limit of the handshake. */
  cancel: () => void;
}

/**
 * Node counts connections from their first packet, but closes only those that have completed the TLS handshake, and
 * each received byte restarts Node's handshake timeout. So this class tracks connections from their acceptance.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #open = new Map<Socket, Connection>();
  /** A connection counts as idle while it has no unsent response. */
  readonly #slots: ConnectionSlots<Socket>;
  /** Connections that completed the handshake, by the socket object of their requests. */
  readonly #ready = new WeakMap<Duplex, Connection>();
  #stopping = false;

  constructor(server: PlainServer | SecureServer, bounds: ConnectionBounds, clock: Clock, log: Log) {
    this.#bounds = bounds;
    this.#clock = clock;
    this.#log = log;
    const { connections: all, idlePerAddress } = bounds;
    this.#slots = new ConnectionSlots({ all, waiting: all, waitingPerAddress: idlePerAddress, keptPerAddress: 0 });
    const secure = server instanceof SecureServer;
    server.on('connection', (tcp: Socket) => this.#opened(tcp, secure));
    server.on('secureConnection', (socket: Socket) => this.#secured(socket));
  }

  /** Returns true if this socket can carry requests: TLS, if used, has completed its handshake. */
  isReady(socket: Duplex): boolean {
    return this.#ready.has(socket);
  }

  /** Returns true if a response on this socket has been sent only partly. */
  isAnswering(socket: Duplex): boolean {
    const { lingers = false, answers = [] } = this.#ready.get(socket) ?? {};
    return lingers || [...answers].some(({ headersSent }) => headersSent);
  }

  /** Keeps the connection open until the response is sent. */
  answers(answer: ServerResponse): void {
    const connection = answer.socket === null ? undefined : this.#ready.get(answer.socket);
    if (connection === undefined) return;
    connection.answers.add(answer);
    this.#slots.admit(connection.tcp);
    answer.once('close', () => {
      this.#answered(connection, answer);
      // If the response has `Connection: close`, Node itself closes the connection, after the last bytes of TLS.
      if (this.#stopping && connection.answers.size === 0) setImmediate(() => connection.tcp.destroy());
    });
  }

  /**
   * Ends a written response when the rest of its request has been received and discarded, or after the time limit. If
   * the server closed the connection while the client is sending, the client could lose the response (RFC 9112 §9.6).
   */
  linger(request: IncomingMessage, answer: ServerResponse): void {
    const connection = answer.socket === null ? undefined : this.#ready.get(answer.socket);
    if (connection !== undefined) {
      connection.lingers = true;
      this.#answered(connection, answer);
    }
    const end = (): void => {
      cancel();
      answer.end();
    };
    const cancel = this.#clock.after(this.#bounds.linger, end);
    request.once('close', end).resume();
  }

  /** Closes all connections: idle ones immediately, others after their response or the time limit. */
  stop(): void {
    this.#stopping = true;
    for (const { tcp, answers } of this.#open.values()) {
      if (answers.size === 0) tcp.destroy();
      for (const answer of answers) if (!answer.headersSent) answer.setHeader('Connection', 'close');
    }
    if (this.#open.size === 0) return;
    const cancel = this.#clock.after(this.#bounds.finish, () => {
      for (const { tcp } of this.#open.values()) tcp.destroy();
    });
    let left = this.#open.size;
    for (const { tcp } of this.#open.values()) tcp.once('close', () => --left === 0 && cancel());
  }

  #opened(tcp: Socket, secure: boolean): void {
    const cancel = secure ? this.#clock.after(this.#bounds.handshake, () => tcp.destroy()) : () => undefined;
    const connection: Connection = { tcp, client: clientOf(tcp), answers: new Set(), lingers: false, cancel };
    this.#open.set(tcp, connection);
    if (!secure) this.#ready.set(tcp, connection);
    tcp.once('close', () => {
      connection.cancel();
      this.#open.delete(tcp);
      this.#slots.delete(tcp);
    });
    if (this.#stopping) tcp.destroy();
    this.#makeRoom(tcp);
  }

  #answered(connection: Connection, answer: ServerResponse): void {
    connection.answers.delete(answer);
    if (connection.answers.size === 0) this.#slots.wait(connection.tcp);
  }

  #secured(socket: Socket): void {
    const client = clientOf(socket);
    for (const connection of this.#open.values()) {
      if (connection.client !== client) continue;
      connection.cancel();
      this.#ready.set(socket, connection);
    }
  }

  /** Closes idle connections, so that a client that opens many does not lock out others. */
  #makeRoom(newest: Socket): void {
    const closed = this.#slots.add(newest, newest.remoteAddress);
    if (closed === undefined) return;
    this.#log.warn('http.connectionLimit', { connections: this.#slots.size, from: closed.remoteAddress });
    this.#open.delete(closed);
    closed.destroy();
  }
}

/** Returns a string that identifies an open connection of the server. */
function clientOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
