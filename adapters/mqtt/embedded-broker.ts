/** A broker in this process, for the bench and for tests. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Aedes, AedesOptions } from 'aedes';
import { VigieError } from '../../protocol/errors.ts';
import { withPackage } from '../../protocol/missing-package.ts';

export interface EmbeddedBrokerOptions {
  /** Address to listen on; default 127.0.0.1. There is no authentication: another address is open to its network. */
  readonly host?: string;
  /** Default 0: any free one. */
  readonly port?: number;
  /**
   * Called with each message of a client. It is acknowledged and passed on when this resolves; when it rejects, the
   * connection ends without an acknowledgement, so that the client sends the message again.
   */
  readonly accept?: (topic: string, payload: Uint8Array) => Promise<void>;
  /** Called when a client has subscribed to a filter, or taken up a session that has it. */
  readonly subscribed?: (filter: string) => void;
}

/**
 * Speaks MQTT 3.1.1 only and refuses MQTT 5. Retained messages and sessions are kept in memory, also from `stop` to
 * the next `start`, which takes the same port.
 */
export class EmbeddedBroker {
  readonly #host: string;
  readonly #sockets = new Set<Socket>();
  readonly #options: EmbeddedBrokerOptions;
  #port: number;
  #running: { readonly server: Server; readonly aedes: Aedes } | undefined;
  #persistence: unknown;

  constructor(options: EmbeddedBrokerOptions = {}) {
    this.#options = options;
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
    const { Aedes } = await withPackage(() => import('aedes'));
    const { accept, subscribed } = this.#options;
    const aedes = await Aedes.createBroker({
      ...(this.#persistence === undefined ? {} : { persistence: this.#persistence }),
      // Aedes acknowledges when this has called back.
      ...(accept === undefined ? {} : { authorizePublish: acceptFirst(accept) }),
    });
    if (subscribed !== undefined) {
      aedes.on('subscribe', (subscriptions) => {
        for (const { topic } of subscriptions) subscribed(topic);
      });
    }
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

  /**
   * Publishes a message to all subscribers with QoS 1; sessions of disconnected clients keep it in memory.
   * Rejects with `link.lost` while the broker does not run.
   */
  async publish(topic: string, payload: Uint8Array): Promise<void> {
    const aedes = this.#running?.aedes;
    if (aedes === undefined) throw new VigieError('link.lost', 'the embedded broker does not run', { where: topic });
    await new Promise<void>((resolve, reject) => {
      const packet = {
        cmd: 'publish',
        qos: 1,
        topic,
        payload: Buffer.from(payload),
        retain: false,
        dup: false,
      } as const;
      aedes.publish(packet, (error) => (error === undefined || error === null ? resolve() : reject(error)));
    });
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

/** A client must not speak for the broker itself, whose topics begin with `$SYS/`. */
function acceptFirst(
  accept: NonNullable<EmbeddedBrokerOptions['accept']>,
): NonNullable<AedesOptions['authorizePublish']> {
  return (_client, { topic, payload }, callback) => {
    if (topic.startsWith('$SYS/')) return callback(new Error(`${topic} is reserved`));
    accept(topic, typeof payload === 'string' ? Buffer.from(payload) : payload).then(
      () => callback(null),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error))),
    );
  };
}
