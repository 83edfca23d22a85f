/** The TCP connections of the server: how many there may be, how long they may take to begin, and how they end. */
import type { IncomingMessage, Server as PlainServer, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ConnectionSlots } from '../../agent/connection-slots.ts';
import type { Clock, Log } from '../../agent/ports.ts';

export interface ConnectionBounds {
  /** Connections at a time. */
  readonly connections: number;
  /** Connections from one address that wait for no answer ({@link ConnectionLimits.waitingPerAddress}). */
  readonly idlePerAddress: number;
  /** For a TLS handshake, from the first packet to the last, ms. */
  readonly handshake: number;
  /** For requests under way when the server stops, ms. */
  readonly finish: number;
  /** For a client to take the refusal of what it sends and to stop sending, ms. */
  readonly linger: number;
}

interface Connection {
  /** The TCP socket; requests over TLS come on another one. */
  readonly tcp: Socket;
  /** Address and port of the client. */
  readonly client: string;
  /** Answers that are not sent yet. */
  readonly answers: Set<ServerResponse>;
  /** Whether its last answer is written and ends with the request that it refuses. */
  lingers: boolean;
  /** Ends the time for the handshake. */
  cancel: () => void;
}

/**
 * Node counts connections from their first packet, but closes only those whose TLS handshake has succeeded; the time for
 * a handshake begins anew there with every byte. So connections are kept here from when they are accepted.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #open = new Map<Socket, Connection>();
  /** A connection waits while none of its answers is under way. */
  readonly #slots: ConnectionSlots<Socket>;
  /** By the socket that their requests come on. */
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

  /** Whether requests can come on this socket: the TLS handshake, where there is one, has succeeded. */
  isReady(socket: Duplex): boolean {
    return this.#ready.has(socket);
  }

  /** Whether a part of an answer was sent on this socket and the rest was not. */
  isAnswering(socket: Duplex): boolean {
    const { lingers = false, answers = [] } = this.#ready.get(socket) ?? {};
    return lingers || [...answers].some(({ headersSent }) => headersSent);
  }

  /** Has the connection stay until the answer was sent. */
  answers(answer: ServerResponse): void {
    const connection = answer.socket === null ? undefined : this.#ready.get(answer.socket);
    if (connection === undefined) return;
    connection.answers.add(answer);
    this.#slots.admit(connection.tcp);
    answer.once('close', () => {
      this.#answered(connection, answer);
      // Node closes it itself, after the last bytes of TLS, where the answer says so.
      if (this.#stopping && connection.answers.size === 0) setImmediate(() => connection.tcp.destroy());
    });
  }

  /**
   * Ends an answer that is written when the rest of its request has come and was thrown away, or the time for that is
   * over: closed while the client is still sending, the connection would be reset and the answer lost (RFC 9112 §9.6).
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

  /** Closes every connection: at once, or when its answer was sent or the time for that is over. */
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

  /** A client that opens many idle connections keeps no other client out. */
  #makeRoom(newest: Socket): void {
    const closed = this.#slots.add(newest, newest.remoteAddress);
    if (closed === undefined) return;
    this.#log.warn('http.connectionLimit', { connections: this.#slots.size, from: closed.remoteAddress });
    this.#open.delete(closed);
    closed.destroy();
  }
}

/** No two open connections of a server have the same. */
function clientOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
