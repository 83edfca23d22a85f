/** A broker in this process, for the bench and for tests. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Aedes } from 'aedes';
import { VigieError } from '../../protocol/errors.ts';

export interface EmbeddedBrokerOptions {
  /** Address to listen on; default 127.0.0.1. There is no authentication: another address is open to its network. */
  readonly host?: string;
  /** Default 0: any free one. */
  readonly port?: number;
}

/**
 * Speaks MQTT 3.1.1 only and refuses MQTT 5. Retained messages and sessions are kept in memory, also from `stop` to
 * the next `start`, which takes the same port.
 */
export class EmbeddedBroker {
  readonly #host: string;
  readonly #sockets = new Set<Socket>();
  #port: number;
  #running: { readonly server: Server; readonly aedes: Aedes } | undefined;
  #persistence: unknown;

  constructor(options: EmbeddedBrokerOptions = {}) {
    this.#host = options.host ?? '127.0.0.1';
    this.#port = options.port ?? 0;
  }

  /** `mqtt://host:port`; throws `usage.wrong` before the first start. */
  get url(): string {
    if (this.#port === 0) throw new VigieError('usage.wrong', 'the embedded broker has not been started');
    return `mqtt://${this.#host.includes(':') ? `[${this.#host}]` : this.#host}:${this.#port}`;
  }

  /** Resolves when it listens; rejects with `usage.wrong` when the address cannot be had. */
  async start(): Promise<{ readonly url: string }> {
    if (this.#running !== undefined) return { url: this.url };
    // Not in the memory of a car, which has no broker.
    const { Aedes } = await import('aedes');
    const aedes = await Aedes.createBroker(this.#persistence === undefined ? {} : { persistence: this.#persistence });
    // The library's types leave it out; it is what became of the option `persistence`.
    this.#persistence = Reflect.get(aedes, 'persistence');
    const server = createServer({ noDelay: true }, (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      aedes.handle(socket);
    });
    try {
      await this.#listen(server);
    } catch (error) {
      aedes.close();
      throw error;
    }
    this.#running = { server, aedes };
    return { url: this.url };
  }

  /** Ends all connections, publishing their wills; resolves when the port is free. */
  async stop(): Promise<void> {
    if (this.#running === undefined) return;
    const { server, aedes } = this.#running;
    this.#running = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    await new Promise<void>((resolve) => aedes.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #listen(server: Server): Promise<void> {
    server.listen({ host: this.#host, port: this.#port });
    try {
      await once(server, 'listening');
    } catch (cause) {
      throw this.#unavailable(cause);
    }
    const address = server.address();
    if (address !== null && typeof address === 'object') this.#port = address.port;
  }

  #unavailable(cause: unknown): VigieError {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const where = `${this.#host}:${this.#port}`;
    const text =
      code === 'EADDRINUSE'
        ? 'another program listens on this port (end it, or choose another port; 0 takes any free one)'
        : code === 'EACCES'
          ? 'this user may not listen on this port (choose one above 1023)'
          : code === 'EADDRNOTAVAIL'
            ? 'this machine does not have that address (use 127.0.0.1, or one of its own)'
            : `cannot listen: ${cause instanceof Error ? cause.message : String(cause)} (choose another address)`;
    return new VigieError('usage.wrong', text, { where, cause });
  }
}
