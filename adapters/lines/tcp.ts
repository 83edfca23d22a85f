/** Lines over TCP: gpsd, and receivers and adapters behind a serial server (ser2net) or on a wireless network. */
import { connect, type Socket } from 'node:net';
import type { Line, LineEvents, OpenLine } from '../../agent/ports.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { unopened } from './failures.ts';

interface TcpLineOptions {
  /** Host name or address; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Time limit in ms for connecting. */
const PATIENCE = 5_000;
/** Silence in ms after which the kernel probes the other end. */
const KEEP_ALIVE = 15_000;
/** Time limit in ms for sending buffered bytes when the line is closed. */
const FAREWELL = 1_000;

export function tcpLine({ host, port }: TcpLineOptions): OpenLine {
  return (events) =>
    new Promise((resolve, reject) => {
      const where = host.includes(':') ? `tcp://[${host}]:${port}` : `tcp://${host}:${port}`;
      const socket = connect({
        host,
        port,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE,
      });
      const patience = setTimeout(() => {
        socket.destroy(Object.assign(new Error(`no answer for ${PATIENCE / 1000} s`), { code: 'ETIMEDOUT' }));
      }, PATIENCE);
      const failed = (error: Error): void => {
        clearTimeout(patience);
        reject(unopened(where, causeOf(error)));
      };
      socket.once('error', failed);
      socket.once('connect', () => {
        clearTimeout(patience);
        socket.off('error', failed);
        resolve(new TcpLine(socket, where, events));
      });
    });
}

/** Returns one cause: if all addresses of a host fail, Node reports one error with many causes, all equally useful. */
function causeOf(error: Error): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
}

class TcpLine implements Line {
  readonly #socket: Socket;
  readonly #where: string;
  #closing = false;

  constructor(socket: Socket, where: string, events: LineEvents) {
    this.#socket = socket;
    this.#where = where;
    let trouble: string | undefined;
    socket.on('error', (error) => {
      trouble ??= error.message;
    });
    socket.once('close', () => {
      if (!this.#closing) events.closed(trouble ?? 'the other end closed the connection');
    });
    socket.on('data', (bytes) => {
      if (!this.#closing) events.data(bytes);
    });
  }

  write(bytes: Uint8Array): Promise<void> {
    if (!this.#socket.writable) return Promise.reject(this.#gone('the connection has ended'));
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(this.#gone(reasonOf(error), error));
      });
    });
  }

  async close(): Promise<void> {
    this.#closing = true;
    const socket = this.#socket;
    if (socket.closed) return;
    await new Promise<void>((resolve) => {
      const cut = setTimeout(() => socket.destroy(), FAREWELL);
      socket.once('close', () => {
        clearTimeout(cut);
        resolve();
      });
      socket.end();
    });
  }

  #gone(reason: string, cause?: unknown): VigieError {
    return new VigieError('input.unreadable', `the line does not work: ${reason}`, { where: this.#where, cause });
  }
}
