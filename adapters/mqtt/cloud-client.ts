/** The other end of a car's link: a client for programs that watch cars or send messages to them. */
import { randomUUID } from 'node:crypto';
import type { BackoffOptions } from '../../agent/backoff.ts';
import type { Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Incoming, MqttConnection } from './connection.ts';
import { Dialer } from './dialer.ts';
import { matches } from './filter.ts';
import { LinkProgress } from './health.ts';
import { KeepAlive } from './keep-alive.ts';
import type { MqttAddress } from './link.ts';
import { makeTargets, type TlsNames } from './socket.ts';

export interface CloudClientOptions extends Omit<MqttAddress, 'url'> {
  /** Maximum size of an accepted packet in bytes; default 1 MiB. */
  readonly maximumPacket?: number;
  /** Time limit in ms for an attempt to connect; default 10 s. */
  readonly connectTimeout?: number;
  /** Delays between attempts in ms; default 0.5 s to 10 s. */
  readonly backoff?: BackoffOptions;
  /** Names of the TLS files in error messages. Default: the names of the configuration fields. */
  readonly names?: TlsNames;
  /** Maximum number of unacknowledged messages from the broker, 1..65535; default 1000. 3.1.1 brokers use their own. */
  readonly receiveMaximum?: number;
  /** Subscriptions from the first connection on: messages waiting in an earlier process's session arrive at once. */
  readonly subscriptions?: (connection: BrokerAbilities) => readonly Subscriber[];
  /**
   * If true, {@link CloudClient.close} leaves the session and its subscriptions at the broker, which stores messages
   * for the next process. Each connection subscribes again, and thus receives the retained messages.
   */
  readonly keepsSession?: boolean;
  /** Called for each new connection. `sessionPresent` is true if the broker still has the previous session. */
  readonly ready?: (connection: BrokerAbilities, sessionPresent: boolean) => void;
  readonly log?: Log;
}

/** Capabilities that a broker reports. */
export interface BrokerAbilities {
  /** True if the broker supports shared subscriptions. */
  readonly shares: boolean;
}

/** Properties of a received message. */
export interface Delivery {
  /** True if the message was already retained when the subscription was made. */
  readonly retained: boolean;
  readonly correlation: Uint8Array | undefined;
}

/**
 * The client acknowledges a message when all of its receivers have returned and their promises have resolved. If one
 * rejects, the connection ends, and the broker sends the message again.
 */
export type Receive =
  | ((topic: string, payload: Uint8Array, delivery: Delivery) => void)
  | ((topic: string, payload: Uint8Array, delivery: Delivery) => Promise<void>);

interface PublishOptions {
  readonly retain?: boolean;
  /** Time in s after which the broker drops the message for disconnected subscribers. */
  readonly expiry?: number;
  readonly responseTopic?: string;
  readonly correlation?: Uint8Array;
}

interface Subscription {
  readonly filter: string;
  /** Ends the subscription; resolves when the broker has acknowledged that. */
  close(): Promise<void>;
}

export interface Subscriber {
  readonly filter: string;
  readonly receive: Receive;
}

interface First {
  resolve(): void;
  reject(error: VigieError): void;
}

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Time in ms on a fallback address after which the client probes the first address. */
const HOMING = 600_000;
/** Minimum keep-alive interval in s. */
const LEAST_KEEPALIVE = 5;

/** Time limit in ms for {@link CloudClient.close}. */
const farewell = 3000;

/**
 * Connects, with a clear error if the first attempt fails, and then reconnects automatically until {@link
 * CloudClient.close}. The broker stores messages during interruptions.
 */
export class CloudClient {
  readonly #options: CloudClientOptions;
  readonly #dialer: Dialer;
  readonly #log: Log;
  readonly #subscribers = new Set<Subscriber>();
  /** Receivers that stay active until the UNSUBACK: retained messages may arrive between SUBACK and UNSUBACK. */
  readonly #ending = new Set<Subscriber>();
  readonly #progress = new LinkProgress(Date.now);
  #connection: MqttConnection | undefined;
  /** The accepted connection, while the client subscribes on it. */
  #subscribing: MqttConnection | undefined;
  #begun = false;
  /** Settles the promise of the first attempt. Later calls have no effect. */
  readonly #first: First;

  private constructor(url: string | readonly string[], options: CloudClientOptions, first: First) {
    this.#first = first;
    this.#options = options;
    this.#log = options.log ?? silent;
    const identity = {
      clientId: options.clientId ?? `vigie-${randomUUID()}`,
      username: options.username,
      password: options.password,
      sessionExpiry: options.sessionExpiry ?? 3600,
      maximumPacket: options.maximumPacket ?? 0x10_0000,
      window: 20,
      // A fleet's receiver gets many messages at once, and a broker drops those that exceed its queue for a slow
      // client.
      receiveMaximum: options.receiveMaximum ?? 1000,
      timeout: options.connectTimeout ?? 10_000,
    };
    this.#dialer = new Dialer(
      {
        targets: makeTargets(url, options.tls, this.#log, options.names),
        protocol: options.protocol ?? 'auto',
        identity,
        keepAlive: new KeepAlive(options.keepalive ?? 30, LEAST_KEEPALIVE),
        homing: HOMING,
        progress: this.#progress,
        backoff: options.backoff ?? { first: 500, longest: 10_000 },
        random: Math.random,
        log: this.#log,
      },
      {
        ready: (connection, sessionPresent) => void this.#ready(connection, sessionPresent),
        message: (message) => this.#received(message),
        lost: () => {
          this.#connection = undefined;
          this.#subscribing = undefined;
        },
        failed: (error) => {
          if (this.#begun) return;
          this.#dialer.stop();
          this.#first.reject(error);
        },
      },
    );
  }

  /**
   * Rejects with `link.refused` (address, reason, advice) if the first attempt fails at all addresses, and with
   * `configuration.wrong` for invalid URLs and certificates.
   */
  static connect(url: string | readonly string[], options: CloudClientOptions = {}): Promise<CloudClient> {
    return new Promise((resolve, reject) => {
      const client = new CloudClient(url, options, { resolve: () => resolve(client), reject });
    });
  }

  get connected(): boolean {
    return this.#connection !== undefined;
  }

  /**
   * Resolves when the broker has acknowledged the subscription to `filter`. Matching messages arrive at least once;
   * they may arrive more than once if filters overlap. Rejects with `link.refused` or `link.lost`.
   */
  async subscribe(filter: string, receive: Receive): Promise<Subscription> {
    const subscriber = { filter, receive };
    // Add it before the acknowledgement, because retained messages may precede the SUBACK (MQTT 5 clause 3.8.4).
    this.#subscribers.add(subscriber);
    try {
      await this.#required(filter).subscribe(filter);
    } catch (error) {
      this.#subscribers.delete(subscriber);
      throw error;
    }
    return {
      filter,
      close: async () => {
        if (!this.#subscribers.delete(subscriber)) return;
        if ([...this.#subscribers].some((other) => other.filter === filter)) return;
        this.#ending.add(subscriber);
        try {
          await this.#connection?.unsubscribe(filter);
        } finally {
          this.#ending.delete(subscriber);
        }
      },
    };
  }

  /** Resolves when the broker acknowledges (QoS 1); rejects with `link.refused`, or `link.lost` if disconnected. */
  async publish(topic: string, payload: Uint8Array, options: PublishOptions = {}): Promise<void> {
    const { retain = false, ...rest } = options;
    await this.#required(topic).publish({ topic, payload, retain, ...rest });
  }

  /** Disconnects when received messages are acknowledged or abandoned; waits up to three seconds for the broker. */
  async close(): Promise<void> {
    this.#dialer.stop();
    const connection = this.#connection ?? this.#subscribing;
    this.#connection = undefined;
    if (connection === undefined) return;
    if (this.#options.keepsSession === true) return connection.end(farewell);
    // MQTT 3.1.1 cannot discard a session when disconnecting, so at least remove the filters that would fill it.
    if (connection.version === 4) {
      const filters = new Set([...this.#subscribers].map(({ filter }) => filter));
      for (const filter of filters) this.#ignoring(connection.unsubscribe(filter), filter);
    }
    await connection.end(farewell, undefined, { forgetSession: true });
  }

  #required(where: string): MqttConnection {
    if (this.#connection !== undefined) return this.#connection;
    throw new VigieError('link.lost', 'there is no connection to the broker; the program is connecting again', {
      where,
    });
  }

  async #ready(connection: MqttConnection, sessionPresent: boolean): Promise<void> {
    const given = this.#begun ? [] : (this.#options.subscriptions?.(connection) ?? []);
    for (const subscriber of given) this.#subscribers.add(subscriber);
    this.#subscribing = connection;
    try {
      const kept = sessionPresent && this.#options.keepsSession !== true;
      const filters = new Set([...(kept ? given : this.#subscribers)].map(({ filter }) => filter));
      await Promise.all([...filters].map((filter) => connection.subscribe(filter)));
    } catch (error) {
      this.#log.warn('cloud.subscription', { reason: String(error) });
      if (!this.#begun && error instanceof VigieError && error.code === 'link.refused') {
        this.#dialer.stop();
        this.#first.reject(error);
      }
      connection.destroy('a subscription was not acknowledged');
      return;
    }
    if (this.#subscribing === connection) this.#subscribing = undefined;
    if (connection.ended) return;
    this.#connection = connection;
    this.#progress.enter('up');
    this.#begun = true;
    this.#first.resolve();
    this.#options.ready?.(connection, sessionPresent);
  }

  #received({ topic, payload, retained, correlation }: Incoming): undefined | Promise<void> {
    const taking: Promise<void>[] = [];
    for (const { filter, receive } of [...this.#subscribers, ...this.#ending]) {
      if (!matches(filter, topic)) continue;
      try {
        const taken = receive(topic, payload, { retained, correlation });
        if (taken !== undefined) taking.push(taken);
      } catch (error) {
        this.#log.error('cloud.handler', { topic, reason: String(error) });
      }
    }
    return taking.length === 0 ? undefined : Promise.all(taking).then(() => undefined);
  }

  #ignoring(promise: Promise<void>, filter: string): void {
    promise.catch((error: unknown) => this.#log.warn('cloud.unsubscription', { filter, reason: String(error) }));
  }
}
