/** The car's link to its broker. */

import type { BackoffOptions } from '../../agent/backoff.ts';
import type { Link, LinkEvents, Log, OutgoingMessage } from '../../agent/ports.ts';
import type { Rest } from '../../agent/power/rest.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { downFilter, presenceTopic } from '../../protocol/topics.ts';
import type { Incoming, MqttConnection } from './connection.ts';
import type { TlsSource } from './credentials.ts';
import { Dialer } from './dialer.ts';
import { type LinkHealth, LinkProgress } from './health.ts';
import type { Identity } from './identity.ts';
import { KeepAlive } from './keep-alive.ts';
import { protocolName, type Version } from './protocol-choice.ts';
import { type BrokerEndpoint, makeTargets } from './socket.ts';

/** Payloads of the retained message on the car's presence topic. */
export interface Presence {
  readonly topic: string;
  readonly online: Uint8Array;
  /** Payload for a car that sleeps, connected or not, and will return by itself. If omitted, sleep is not announced. */
  readonly asleep?: Uint8Array;
  /** Payload for a car that is offline. It is also the will, which the broker publishes when the connection is lost. */
  readonly offline: Uint8Array;
  /** Delay in s before the broker publishes the will, so that a tunnel is no absence (MQTT 5 only; default 10). */
  readonly willDelay?: number;
}

/** Address of the broker, and the car's credentials. */
export interface MqttAddress {
  /**
   * One broker, or several equivalent ones in order of preference: `mqtt://host:1883`, `mqtts://host:8883`. The link
   * tries them in turn; from a fallback it returns to the first broker once that is reachable.
   */
  readonly url: string | readonly string[];
  /** Default: the VIN. Names the session at the broker. Two clients with the same id disconnect each other. */
  readonly clientId?: string;
  /** Default `auto`: MQTT 5, or 3.1.1 if the broker refuses MQTT 5. */
  readonly protocol?: 'auto' | Version;
  /** Files, or a function that reads them for each connection, so that files can be renewed. */
  readonly tls?: TlsSource;
  readonly username?: string;
  /** The password, or a function that reads it for each connection. */
  readonly password?: string | (() => string);
  /**
   * Silence in s before a ping to the broker, 1..65535; default 60. Shorter, down to 15, if the network drops silent
   * connections earlier (see keep-alive.ts).
   */
  readonly keepalive?: number;
  /** The same in s while the unit sleeps; default and minimum: `keepalive`. */
  readonly asleepKeepalive?: number;
  /**
   * Time in s for which the broker keeps commands for a disconnected car; default a week. 3.1.1 brokers use their own
   * time, except for 0, which keeps none.
   */
  readonly sessionExpiry?: number;
}

export interface MqttLinkOptions extends MqttAddress {
  readonly vin: string;
  /** Topic filter of messages to the car; default: that for `vin`. */
  readonly down?: string;
  /** Default: the words online, asleep and offline on the presence topic of `vin`. */
  readonly presence?: Presence;
  /**
   * Maximum size of an accepted packet in bytes; default 64 KiB. MQTT 5 announces it to the broker, which then does not
   * send larger packets. With 3.1.1 a larger packet is dropped and acknowledged, and may cost a reconnection.
   */
  readonly maximumPacket?: number;
  /** Maximum number of unacknowledged publishes; default 20. */
  readonly window?: number;
  /** Delays between attempts in ms; default 1 s to 2 min. */
  readonly backoff?: BackoffOptions;
  /** Time in ms on a fallback address before the link probes the first; default 10 min, randomized by ±50 %. */
  readonly homing?: number;
  /** Silence in s that every network tolerates; default 15. More frequent pings would cost more than a reconnection. */
  readonly leastKeepalive?: number;
  /** Sleep state of the unit; default: never asleep. */
  readonly rest?: Rest;
  /** Time limit in ms for an attempt to connect, and for every other acknowledgement; default 20 s. */
  readonly connectTimeout?: number;
  /** Time limit in ms for {@link MqttLink.close}; default 3 s. */
  readonly closeTimeout?: number;
  readonly log: Log;
  /** Returns random numbers from 0 (inclusive) to 1 (exclusive), which vary the delays. */
  readonly random?: () => number;
}

const WEEK = 7 * 86_400;
/** Maximum number of commands that a broker may send at once after an absence of the car. */
const RECEIVE_MAXIMUM = 20;
/** Default time in ms on a fallback address before the first address is probed. */
const HOMING = 600_000;

/**
 * A {@link Link} over MQTT 5 or 3.1.1. It reconnects as long as it is open, but stores no messages: a publish that is
 * not acknowledged on its connection rejects with `link.lost`, and the link never sends that message again.
 */
export class MqttLink implements Link {
  readonly #options: MqttLinkOptions;
  readonly #targets: readonly [BrokerEndpoint, ...BrokerEndpoint[]];
  readonly #identity: Omit<Identity, 'keepalive'>;
  readonly #keepAlive: KeepAlive;
  readonly #progress = new LinkProgress(Date.now);
  readonly #presence: Presence;
  readonly #down: string;
  #dialer: Dialer | undefined;
  #closing: Promise<void> | undefined;
  #events: LinkEvents | undefined;
  /** The accepted connection, whether subscribed or not. */
  #accepted: MqttConnection | undefined;
  #up = false;
  /** True if the session at the broker contains this process's subscription. */
  #subscribed = false;
  #unsubscribe: (() => void) | undefined;

  /** Throws `configuration.wrong` for invalid URLs, certificates or numbers. A file that is reread may appear later. */
  constructor(options: MqttLinkOptions) {
    const presence = options.presence ?? presenceAt(presenceTopic(options.vin));
    this.#options = options;
    this.#presence = presence;
    this.#down = options.down ?? downFilter(options.vin);
    this.#targets = makeTargets(options.url, options.tls, options.log);
    this.#keepAlive = new KeepAlive(
      within('keepalive', options.keepalive ?? 60, 1, 0xffff),
      within('leastKeepalive', options.leastKeepalive ?? 15, 1, 0xffff),
      within('asleepKeepalive', options.asleepKeepalive ?? options.keepalive ?? 60, 1, 0xffff),
    );
    this.#identity = {
      clientId: options.clientId ?? options.vin,
      username: options.username,
      password: options.password,
      sessionExpiry: within('sessionExpiry', options.sessionExpiry ?? WEEK, 0, 0xffff_ffff),
      maximumPacket: within('maximumPacket', options.maximumPacket ?? 0x1_0000, 128, 0x1000_0004),
      window: within('window', options.window ?? 20, 1, 0xffff),
      receiveMaximum: RECEIVE_MAXIMUM,
      timeout: options.connectTimeout ?? 20_000,
      will: {
        topic: presence.topic,
        payload: presence.offline,
        delay: within('willDelay', presence.willDelay ?? 10, 0, 0xffff_ffff),
      },
    };
  }

  get connected(): boolean {
    return this.#up;
  }

  /** Useful number of concurrent publishes: the smaller of the link's and the broker's limit. Others wait here. */
  get window(): number {
    return this.#accepted?.window ?? this.#identity.window;
  }

  /** The protocol version in use. */
  get protocol(): Version | undefined {
    return this.#accepted?.version;
  }

  /** Bytes sent and received on all connections so far, excluding TLS overhead. */
  get bytes(): number {
    const { counts } = this.#progress;
    const { sent = 0, received = 0 } = this.#accepted?.traffic ?? {};
    return counts.sentBytes + counts.receivedBytes + sent + received;
  }

  /** Returns the state of the link and its counters. */
  health(): LinkHealth {
    const { state, since, downSince, reason, counts } = this.#progress;
    const { protocol } = this;
    const { sent = 0, received = 0 } = this.#accepted?.traffic ?? {};
    const target = this.#accepted?.target ?? this.#dialer?.target;
    const certificateExpires = this.#targets.find(({ credentials }) => credentials !== undefined)?.credentials?.expires;
    return {
      state,
      since,
      ...defined({ downSince, reason }),
      ...(target === undefined ? {} : { broker: target.address.text }),
      ...(protocol === undefined ? {} : { protocol: protocolName(protocol) }),
      keepalive: this.#keepAlive.seconds,
      ...defined({ certificateExpires }),
      counts: { ...counts, sentBytes: counts.sentBytes + sent, receivedBytes: counts.receivedBytes + received },
    };
  }

  /** Connects, and reconnects until {@link close}. Messages that waited in the session may arrive before `up`. */
  open(events: LinkEvents): void {
    if (this.#dialer !== undefined || this.#closing !== undefined)
      throw new VigieError('usage.wrong', 'the link is open already');
    this.#events = events;
    const { backoff = { first: 1000, longest: 120_000 }, random = Math.random } = this.#options;
    const { log, protocol = 'auto', homing = HOMING, rest } = this.#options;
    this.#keepAlive.asleep = rest?.asleep === true;
    this.#unsubscribe = rest?.subscribe((asleep) => this.#rested(asleep));
    this.#dialer = new Dialer(
      {
        targets: this.#targets,
        protocol,
        identity: this.#identity,
        keepAlive: this.#keepAlive,
        backoff,
        homing,
        random,
        progress: this.#progress,
        log,
      },
      {
        ready: (connection, sessionPresent) => void this.#ready(connection, sessionPresent),
        message: (message) => this.#received(message),
        lost: (connection, reason) => {
          if (connection === this.#accepted) this.#lost(reason);
        },
        failed: () => undefined,
      },
    );
  }

  publish(message: OutgoingMessage): Promise<void> {
    if (!this.#up || this.#accepted === undefined) {
      return Promise.reject(
        new VigieError('link.lost', 'there is no connection to the broker', { where: message.topic }),
      );
    }
    return this.#counted(this.#accepted.publish(message), message.payload.length);
  }

  /**
   * Publishes presence, then sends DISCONNECT, so that the broker does not publish the will. After `closeTimeout` the
   * link destroys the socket instead, and the broker publishes the will. The link may be opened again.
   */
  close(presence: 'offline' | 'asleep' = 'offline'): Promise<void> {
    this.#closing ??= this.#sayGoodBye(presence).finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  }

  async #counted(acknowledged: Promise<void>, bytes: number): Promise<void> {
    const { counts } = this.#progress;
    try {
      await acknowledged;
      counts.published++;
      counts.publishedBytes += bytes;
    } catch (error) {
      counts.rejected++;
      throw error;
    }
  }

  async #sayGoodBye(presence: 'offline' | 'asleep'): Promise<void> {
    const { topic, offline, asleep = offline } = this.#presence;
    const payload = presence === 'asleep' ? asleep : offline;
    const connection = this.#accepted;
    if (this.#dialer === undefined) return;
    this.#unsubscribe?.();
    this.#dialer.stop();
    this.#progress.enter('closing', 'closed by this side');
    this.#lost('closed by this side');
    try {
      await connection?.end(this.#options.closeTimeout ?? 3000, { topic, payload, retain: true });
    } catch (error) {
      this.#options.log.warn('link.presence', { presence, reason: String(error) });
    }
    this.#dialer = undefined;
    this.#progress.enter('closed');
  }

  async #ready(connection: MqttConnection, sessionPresent: boolean): Promise<void> {
    this.#accepted = connection;
    try {
      // The session of an earlier process may have another filter, so do not rely on the session before the first
      // subscription of this process.
      if (!sessionPresent || !this.#subscribed) await connection.subscribe(this.#down);
    } catch (error) {
      this.#options.log.warn('link.subscription', { filter: this.#down, reason: String(error) });
      connection.destroy('the subscription was not acknowledged');
      return;
    }
    if (this.#accepted !== connection) return;
    this.#subscribed = true;
    this.#up = true;
    this.#progress.enter('up');
    const announced = this.#announce(connection);
    this.#notify('up', (events) => events.up());
    await announced;
  }

  /** Publishes whether this unit sleeps, retained. Never rejects: the next connection publishes it again. */
  async #announce(connection: MqttConnection): Promise<void> {
    const { topic, online, asleep = online } = this.#presence;
    const presence = this.#options.rest?.asleep === true ? 'asleep' : 'online';
    try {
      await connection.publish({ topic, payload: presence === 'asleep' ? asleep : online, retain: true });
    } catch (error) {
      this.#options.log.warn('link.presence', { presence, reason: String(error) });
    }
  }

  #rested(asleep: boolean): void {
    this.#keepAlive.asleep = asleep;
    if (!this.#up || this.#accepted === undefined) return;
    this.#accepted.askAfter(this.#keepAlive.seconds);
    void this.#announce(this.#accepted);
  }

  #received(message: Incoming): void {
    this.#progress.counts.received++;
    this.#notify('message', (events) =>
      events.message(message.topic, message.payload, message.correlation, message.retained),
    );
  }

  #lost(reason: string): void {
    const wasUp = this.#up;
    this.#accepted = undefined;
    this.#up = false;
    if (wasUp && this.#progress.state !== 'closing') this.#progress.counts.losses++;
    if (wasUp) this.#notify('down', (events) => events.down(reason));
  }

  /** Calls a handler of the core. If the handler throws, logs the error and keeps the link. */
  #notify(event: string, call: (events: LinkEvents) => void): void {
    if (this.#events === undefined) return;
    try {
      call(this.#events);
    } catch (error) {
      this.#options.log.error('link.handler', { handler: event, reason: String(error) });
    }
  }
}

/** Returns the words online, asleep and offline at a topic. */
export function presenceAt(topic: string): Presence {
  const word = (text: string): Uint8Array => new TextEncoder().encode(text);
  return { topic, online: word('online'), asleep: word('asleep'), offline: word('offline') };
}

function within(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new VigieError('configuration.wrong', `${name} is ${value}; use a whole number from ${least} to ${most}`);
}
