/** A broker inside this process, for the bench and for tests. */

import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createSecureServer, type Server as SecureServer, type TLSSocket } from 'node:tls';
import type { Aedes, AedesOptions, AuthenticateError, Client } from 'aedes';
import type { ConnectionLimits } from '../../agent/connection-slots.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { withPackage } from '../../protocol/missing-package.ts';
import { BrokerConnections, CONNECTION_LIMITS } from './broker-connections.ts';
import { checkPackets } from './client-packets.ts';
import { type ClientRights, mayPublish, maySubscribe, mayUseSession, type ShownIdentity } from './client-rights.ts';
import { listen } from './listen.ts';

export interface EmbeddedBrokerOptions {
  /** Address to listen on; default 127.0.0.1. Without `identify`, any other address is open to its whole network. */
  readonly host?: string;
  /** Port to listen on; default 0, which selects any free port. */
  readonly port?: number;
  /**
   * Called with each message of a client. When this resolves, the message is acknowledged and forwarded. If it rejects,
   * the connection ends without an acknowledgement, so that the client sends the message again.
   */
  readonly accept?: (topic: string, payload: Uint8Array) => Promise<void>;
  /** Called when a client has subscribed to a filter, or has resumed a session that contains it. */
  readonly subscribed?: (filter: string) => void;
  /** PEM. Clients may present a certificate of an authority in `ca`. If omitted, the broker does not use TLS. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca: string };
  /** Returns the rights of a client, or rejects if it may not connect. If omitted, clients have all rights. */
  readonly identify?: (shown: ShownIdentity) => Promise<ClientRights>;
  /** Called when a client's connection, message or subscription is refused. */
  readonly refused?: (clientId: string, reason: string) => void;
  /** Called when an internal error has ended a client's connection. */
  readonly failed?: (clientId: string, error: unknown) => void;
  /** Default: {@link CONNECTION_LIMITS}. */
  readonly limits?: ConnectionLimits;
  /** Calls `due` once, after `delay` ms. The returned function cancels the call. Default: Node's timer. */
  readonly after?: (delay: number, due: () => void) => () => void;
}

interface RetainedMessages {
  createRetainedStreamCombi(filters: readonly string[]): AsyncIterable<{ readonly topic: string }>;
}

/** CONNACK: not authorized (MQTT 3.1.1 §3.2.2.3). */
const NOT_AUTHORIZED = 5;

/**
 * Supports only MQTT 3.1.1 and refuses MQTT 5. Keeps retained messages and sessions in memory, even between `stop` and
 * the next `start`, which uses the same port again.
 */
export class EmbeddedBroker {
  readonly #host: string;
  readonly #sockets = new Set<Socket>();
  readonly #options: EmbeddedBrokerOptions;
  #port: number;
  #running: { readonly server: Server; readonly aedes: Aedes } | undefined;
  /** Rights of each client. They are needed even after a client has disconnected, for its will. */
  readonly #rights = new WeakMap<Client, ClientRights>();
  readonly #clients = new Set<Client>();
  #connections: BrokerConnections | undefined;
  #persistence: unknown;

  constructor(options: EmbeddedBrokerOptions = {}) {
    this.#options = options;
    this.#host = options.host ?? '127.0.0.1';
    this.#port = options.port ?? 0;
  }

  /** `mqtt://host:port`, or `mqtts://…` with TLS; throws `usage.wrong` before the first start. */
  get url(): string {
    if (this.#port === 0) throw new VigieError('usage.wrong', 'the embedded broker has not been started');
    const scheme = this.#options.tls === undefined ? 'mqtt' : 'mqtts';
    return `${scheme}://${this.#host.includes(':') ? `[${this.#host}]` : this.#host}:${this.#port}`;
  }

  /** Resolves when the broker listens; rejects with `usage.wrong` if the address is not available. */
  async start(): Promise<{ readonly url: string }> {
    if (this.#running !== undefined) return { url: this.url };
    // Load it here to save memory in a car, which has no broker.
    const { Aedes } = await withPackage(() => import('aedes'));
    const { accept, subscribed, tls, limits = CONNECTION_LIMITS, after = nodeTimer } = this.#options;
    const aedes = await Aedes.createBroker({
      ...defined({ persistence: this.#persistence }),
      // Aedes acknowledges a message when this function has called its callback.
      ...(accept === undefined ? {} : { authorizePublish: this.#acceptFirst(accept) }),
      ...this.#access(),
    });
    if (subscribed !== undefined) {
      aedes.on('subscribe', (subscriptions, client) => {
        for (const { topic } of subscriptions) this.#guarded(client, () => subscribed(topic));
      });
    }
    // The library's types lack this field, which contains the option `persistence`.
    this.#persistence = Reflect.get(aedes, 'persistence');
    const take = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      const client = aedes.handle(socket);
      checkPackets(
        client,
        (reason) => {
          this.#refuse(client, reason);
          socket.destroy();
        },
        (error) => this.#fail(client, error),
      );
    };
    // TLS accepts clients without a certificate: the broker checks a client's certificate at CONNECT.
    const server =
      tls === undefined
        ? createServer({ noDelay: true }, take)
        : createSecureServer({ ...tls, ...SECURE, noDelay: true }, take);
    this.#connections = new BrokerConnections(server, limits, after, (address, reason) =>
      this.#options.refused?.(address, reason),
    );
    server.on('tlsClientError', (error: Error, { remoteAddress }: TLSSocket) =>
      this.#options.refused?.(remoteAddress ?? '', `no TLS connection: ${error.message}`),
    );
    try {
      this.#port = await listen(server, this.#host, this.#port);
    } catch (error) {
      aedes.close();
      throw error;
    }
    // If a connection cannot be accepted, e.g. because too many files are open, the server continues without it.
    server.on('error', (error) => this.#options.failed?.('', error));
    this.#running = { server, aedes };
    return { url: this.url };
  }

  /**
   * Publishes a message with QoS 1 to all subscribers; sessions of disconnected clients store it in memory. Rejects
   * with `link.lost` if the broker is not running.
   */
  publish(topic: string, payload: Uint8Array): Promise<void> {
    return this.#publish(topic, payload, false);
  }

  async #publish(topic: string, payload: Uint8Array, retain: boolean): Promise<void> {
    const aedes = this.#running?.aedes;
    if (aedes === undefined) throw new VigieError('link.lost', 'the embedded broker does not run', { where: topic });
    await new Promise<void>((resolve, reject) => {
      const packet = {
        cmd: 'publish',
        qos: 1,
        topic,
        payload: Buffer.from(payload),
        retain,
        dup: false,
      } as const;
      aedes.publish(packet, (error) => (error === undefined || error === null ? resolve() : reject(error)));
    });
  }

  /** Clears all retained messages that match the filters. Rejects with `link.lost` if the broker is not running. */
  async clearRetained(filters: readonly string[]): Promise<void> {
    const aedes = this.#running?.aedes;
    if (aedes === undefined) throw new VigieError('link.lost', 'the embedded broker does not run');
    // The library's types lack this function.
    const { createRetainedStreamCombi } = Reflect.get(aedes, 'persistence') as RetainedMessages;
    const topics: string[] = [];
    for await (const { topic } of createRetainedStreamCombi.call(Reflect.get(aedes, 'persistence'), filters)) {
      topics.push(topic);
    }
    for (const topic of topics) await this.#publish(topic, new Uint8Array(), true);
  }

  /** Closes the connections of clients that may no longer be connected. */
  endClients(mayStay: (rights: ClientRights) => boolean): void {
    for (const client of this.#clients) if (!mayStay(this.#rightsOf(client))) client.close();
  }

  /** Replaces the certificates for future connections. */
  renew(tls: NonNullable<EmbeddedBrokerOptions['tls']>): void {
    const server = this.#running?.server as Partial<SecureServer> | undefined;
    server?.setSecureContext?.({ ...tls, minVersion: SECURE.minVersion });
  }

  /** Closes all connections and publishes their wills; resolves when the port is free. */
  async stop(): Promise<void> {
    if (this.#running === undefined) return;
    const { server, aedes } = this.#running;
    this.#running = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    await new Promise<void>((resolve) => aedes.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    this.#connections?.destroy();
    await closed;
  }

  /** Prevents clients from publishing as the broker (topics below `$SYS/`) or as another client. */
  #acceptFirst(accept: NonNullable<EmbeddedBrokerOptions['accept']>): NonNullable<AedesOptions['authorizePublish']> {
    return (client, { topic, payload }, callback) => {
      if (topic.startsWith('$SYS/')) return callback(new Error(`${topic} is reserved`));
      if (client !== null && !mayPublish(this.#rightsOf(client), topic)) {
        return callback(this.#refuse(client, `may not publish to ${topic}`));
      }
      this.#settle(
        client,
        async () => accept(topic, typeof payload === 'string' ? Buffer.from(payload) : payload),
        () => callback(null),
        callback,
      );
    };
  }

  #access(): Pick<AedesOptions, 'authenticate' | 'authorizeSubscribe' | 'authorizeForward'> {
    const { identify } = this.#options;
    return {
      authenticate: (client, username, password, done) => {
        this.#settle(
          client,
          async () =>
            identify === undefined ? 'all' : this.#identify(identify, client, username, password?.toString()),
          (rights) => {
            this.#rights.set(client, rights);
            this.#clients.add(client);
            client.conn.once('close', () => this.#clients.delete(client));
            this.#connections?.admit(client.conn as Socket);
            done(null, true);
          },
          (error) => {
            const refusal = this.#refuse(client, error.message) as AuthenticateError;
            refusal.returnCode = NOT_AUTHORIZED;
            done(refusal, false);
          },
        );
      },
      // A `null` result refuses the subscription (MQTT 3.1.1 §3.9.3).
      authorizeSubscribe: (client, subscription, callback) => {
        const { topic } = subscription;
        if (maySubscribe(this.#rightsOf(client), topic)) return callback(null, subscription);
        this.#refuse(client, `may not subscribe to ${topic}`);
        callback(null, null);
      },
      // A session may have been created while the client had other rights.
      authorizeForward: (client, packet) => (maySubscribe(this.#rightsOf(client), packet.topic) ? packet : null),
    };
  }

  /** If `then`, `rejected`, or the broker code that they call throws, only this client's connection ends. */
  #settle<T>(
    client: Client | null,
    work: () => Promise<T>,
    then: (result: T) => void,
    rejected: (error: Error) => void,
  ): void {
    work()
      .then(then, (error: unknown) => rejected(error instanceof Error ? error : new Error(String(error))))
      .catch((error: unknown) => this.#fail(client, error));
  }

  #guarded(client: Client | null, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(client, error);
    }
  }

  #fail(client: Client | null, error: unknown): void {
    this.#options.failed?.(nameOf(client), error);
    (client?.conn as Socket | undefined)?.destroy();
  }

  async #identify(
    identify: NonNullable<EmbeddedBrokerOptions['identify']>,
    client: Client,
    username: string | undefined,
    password: string | undefined,
  ): Promise<ClientRights> {
    const certificate = certificateOf(client.conn as TLSSocket);
    const rights = await identify({
      clientId: client.id,
      ...defined({ username, password, certificate }),
    });
    if (!mayUseSession(rights, client.id)) {
      throw new VigieError('request.forbidden', 'the client id must be the VIN of the car');
    }
    return rights;
  }

  #rightsOf(client: Client): ClientRights {
    return this.#options.identify === undefined ? 'all' : (this.#rights.get(client) ?? NO_RIGHTS);
  }

  #refuse(client: Client, reason: string): Error {
    this.#options.refused?.(nameOf(client), reason);
    return new Error(reason);
  }
}

/** Returns a name of the client for messages: its id, or its address while it has no id. */
function nameOf(client: Client | null): string {
  // In the library the id is null before CONNECT.
  return (client?.id as string | null | undefined) ?? (client?.conn as Socket | undefined)?.remoteAddress ?? '';
}

const nodeTimer = (delay: number, due: () => void): (() => void) => {
  const timer = setTimeout(due, delay);
  return () => clearTimeout(timer);
};

/** Rights of an unknown client: no car has this VIN. */
const NO_RIGHTS: ClientRights = { vin: '' };

const SECURE = { minVersion: 'TLSv1.2', requestCert: true, rejectUnauthorized: false } as const;

/** Returns the client's certificate in DER, if it has one. Throws if the authorities did not sign it. */
function certificateOf(socket: TLSSocket): Uint8Array | undefined {
  const shown = socket.encrypted === true ? socket.getPeerX509Certificate() : undefined;
  if (shown === undefined) return undefined;
  if (socket.authorized) return shown.raw;
  throw new VigieError('request.unauthenticated', `its certificate is not good: ${socket.authorizationError}`);
}
