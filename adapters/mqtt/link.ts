/** The car's way to its broker. */

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

/** Retained message of the car's presence topic. */
export interface Presence {
  readonly topic: string;
  readonly online: Uint8Array;
  /** For a car that sleeps, connected or not, and will come back by itself; without it the link announces no sleep. */
  readonly asleep?: Uint8Array;
  /** Also the will, published by the broker when the connection is lost. */
  readonly offline: Uint8Array;
  /** Seconds the broker waits with the will, so that a short tunnel is not an absence (MQTT 5 only; default 10). */
  readonly willDelay?: number;
}

/** Which broker, and how to show oneself there. */
export interface MqttAddress {
  /**
   * One broker, or several that stand for each other in the order of preference: `mqtt://host:1883`,
   * `mqtts://host:8883`. They are tried in turn; from another than the first the link goes back when that is there.
   */
  readonly url: string | readonly string[];
  /** Default: the VIN. The session is kept under this name; two clients of one name disconnect each other. */
  readonly clientId?: string;
  /** Default `auto`: MQTT 5, or 3.1.1 where that is refused. */
  readonly protocol?: 'auto' | Version;
  /** Files, or a function that reads them: it is called for each connection, so that they can be renewed. */
  readonly tls?: TlsSource;
  readonly username?: string;
  /** Or what reads it again for each connection. */
  readonly password?: string | (() => string);
  /**
   * Seconds of silence after which the broker is asked whether it is there, 1..65535; default 60. Less where the
   * network forgets silent connections sooner (see keep-alive.ts), down to 15.
   */
  readonly keepalive?: number;
  /** The same for a unit that sleeps; default, and at least, `keepalive`. */
  readonly asleepKeepalive?: number;
  /** Seconds the broker keeps commands for a car that is away; default a week. MQTT 3.1.1 brokers set their own. */
  readonly sessionExpiry?: number;
}

export interface MqttLinkOptions extends MqttAddress {
  readonly vin: string;
  /** Topic filter of what is sent to the car; default that of `vin`. */
  readonly down?: string;
  /** Default: the words online, asleep and offline at the presence topic of `vin`. */
  readonly presence?: Presence;
  /**
   * Bytes of the largest packet that is accepted; default 64 KiB. MQTT 5 tells the broker, which then holds larger
   * ones back. On 3.1.1 a larger packet is dropped and acknowledged, and may cost a reconnection.
   */
  readonly maximumPacket?: number;
  /** Publishes that may wait for their acknowledgement at a time; default 20. */
  readonly window?: number;
  /** Milliseconds; default 1 s to 2 min. */
  readonly backoff?: BackoffOptions;
  /** Milliseconds on another address than the first after which that is looked for; default 10 min, spread by half. */
  readonly homing?: number;
  /** Seconds of silence that every network bears; default 15. A question more often costs more than a reconnection. */
  readonly leastKeepalive?: number;
  /** Whether the unit sleeps; default: never. */
  readonly rest?: Rest;
  /** Milliseconds an attempt may take until the broker accepts, and any other acknowledgement; default 20 s. */
  readonly connectTimeout?: number;
  /** Milliseconds that {@link MqttLink.close} may take; default 3 s. */
  readonly closeTimeout?: number;
  readonly log: Log;
  /** Numbers in 0 (included) to 1 (excluded), for the jitter of waits. */
  readonly random?: () => number;
}

const WEEK = 7 * 86_400;
/** Commands that a broker may send at once after the car was away. */
const RECEIVE_MAXIMUM = 20;
/** Milliseconds. */
const HOMING = 600_000;

/**
 * A {@link Link} over MQTT 5 or 3.1.1. It reconnects for as long as it is open and keeps no message: a publish that
 * is not acknowledged on the connection it was made on is rejected with `link.lost` and never sent again from here.
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
  /** The connection that was accepted, subscribed or not. */
  #accepted: MqttConnection | undefined;
  #up = false;
  /** The broker has our subscription in the session it keeps. */
  #subscribed = false;
  #unsubscribe: (() => void) | undefined;

  /** Throws `configuration.wrong` for URLs, certificates or numbers that cannot be; files that are read again may come. */
  constructor(options: MqttLinkOptions) {
    const presence = options.presence ?? presenceOf(options.vin);
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

  /** Publishes worth making at a time: ours or what the broker allows, the smaller. More wait for a slot here. */
  get window(): number {
    return this.#accepted?.window ?? this.#identity.window;
  }

  /** The version that is spoken now. */
  get protocol(): Version | undefined {
    return this.#accepted?.version;
  }

  /** Given to and taken from transports so far, TLS not counted. */
  get bytes(): number {
    const { counts } = this.#progress;
    const { sent = 0, received = 0 } = this.#accepted?.traffic ?? {};
    return counts.sentBytes + counts.receivedBytes + sent + received;
  }

  /** Where the link is in its life, and what it did. */
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

  /** Connects, and reconnects until {@link close}. A message may arrive before `up`: it waited in the session. */
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
   * Says good-bye: presence, then DISCONNECT, so that no will is published. Bounded by `closeTimeout`, after which
   * the socket is destroyed and the will says the same. The link may be opened again.
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
      // A session of an earlier process may hold another filter: what a session has is trusted only after the first
      // subscription of this one.
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

  /** Says, retained, whether the unit that is reached here sleeps. Never rejects: the next connection says it again. */
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
    this.#notify('message', (events) => events.message(message.topic, message.payload, message.correlation));
  }

  #lost(reason: string): void {
    const wasUp = this.#up;
    this.#accepted = undefined;
    this.#up = false;
    if (wasUp && this.#progress.state !== 'closing') this.#progress.counts.losses++;
    if (wasUp) this.#notify('down', (events) => events.down(reason));
  }

  /** Calls the core. An error is logged and does not end the link. */
  #notify(event: string, call: (events: LinkEvents) => void): void {
    if (this.#events === undefined) return;
    try {
      call(this.#events);
    } catch (error) {
      this.#options.log.error('link.handler', { handler: event, reason: String(error) });
    }
  }
}

function presenceOf(vin: string): Presence {
  const word = (text: string): Uint8Array => new TextEncoder().encode(text);
  return { topic: presenceTopic(vin), online: word('online'), asleep: word('asleep'), offline: word('offline') };
}

function within(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new VigieError('configuration.wrong', `${name} is ${value}; use a whole number from ${least} to ${most}`);
}
