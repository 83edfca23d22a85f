/** Maintains one connection to one of several brokers: connects, falls back, waits and reconnects indefinitely. */
import type { Socket } from 'node:net';
import { Backoff, type BackoffOptions } from '../../agent/backoff.ts';
import type { Log } from '../../agent/ports.ts';
import type { VigieError } from '../../protocol/errors.ts';
import { type Incoming, MqttConnection } from './connection.ts';
import type { LinkProgress } from './health.ts';
import type { Identity } from './identity.ts';
import type { KeepAlive } from './keep-alive.ts';
import { type Closing, ProtocolChoice, protocolName, type Version } from './protocol-choice.ts';
import { type BrokerEndpoint, openSocket } from './socket.ts';
import { unreachable } from './unreachable.ts';

interface DialerOptions {
  /** Brokers in order of preference. */
  readonly targets: readonly [BrokerEndpoint, ...BrokerEndpoint[]];
  readonly protocol: 'auto' | Version;
  readonly identity: Omit<Identity, 'keepalive'>;
  readonly keepAlive: KeepAlive;
  readonly backoff: BackoffOptions;
  /** Time in ms on a fallback address after which the dialer probes the first address. */
  readonly homing: number;
  readonly random: () => number;
  readonly progress: LinkProgress;
  readonly log: Log;
}

interface DialerEvents {
  ready(connection: MqttConnection, sessionPresent: boolean): void;
  message(message: Incoming): void;
  /** Called when a connection that was ready has closed. */
  lost(connection: MqttConnection, reason: string): void;
  /** Called when all addresses have failed; the next round follows after a delay. */
  failed(error: VigieError): void;
}

/** Minimum duration in ms of a connection that resets the delay before reconnecting. */
const stable = 30_000;
/** Time limit in ms for leaving a broker for a preferred one. */
const farewell = 3_000;

export class Dialer {
  readonly #options: DialerOptions;
  readonly #events: DialerEvents;
  readonly #backoff: Backoff;
  /** Protocol choices by the index of their address. */
  readonly #choices: readonly ProtocolChoice[];
  #at = 0;
  /** Number of addresses tried since the last delay. */
  #tried = 0;
  #connection: MqttConnection | undefined;
  #timer: NodeJS.Timeout | undefined;
  #homing: NodeJS.Timeout | undefined;
  /** Socket that tests whether the first address is reachable. */
  #probe: Socket | undefined;
  #leaving = false;
  #stopped = false;

  constructor(options: DialerOptions, events: DialerEvents) {
    this.#options = options;
    this.#events = events;
    this.#backoff = new Backoff(options.backoff, options.random);
    this.#choices = options.targets.map(() => new ProtocolChoice(options.protocol));
    this.#dial();
  }

  /** The endpoint of the current connection or of the next attempt. */
  get target(): BrokerEndpoint {
    return this.#options.targets[this.#at] ?? this.#options.targets[0];
  }

  /** Stops further attempts. Destroys a connection that is not accepted yet, but leaves an accepted one open. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#stayAway();
    if (this.#connection !== undefined && !this.#connection.accepted) this.#connection.destroy('closed by this side');
  }

  #dial(): void {
    const { log, keepAlive, progress } = this.#options;
    const { target } = this;
    const choice = this.#choices[this.#at] as ProtocolChoice;
    const identity = { ...this.#options.identity, keepalive: keepAlive.announced };
    let since = 0;
    progress.enter('dialing');
    const connection = new MqttConnection(target, choice.version, identity, {
      reached: () => progress.enter('connecting'),
      ready: (sessionPresent) => {
        since = performance.now();
        choice.accepted();
        keepAlive.reached(connection.localAddress);
        connection.askAfter(keepAlive.seconds);
        this.#tried = 0;
        progress.enter('subscribing');
        log.info('link.connected', { broker: target.address.text, protocol: protocolName(choice.version) });
        if (this.#at > 0) this.#lookHome();
        this.#events.ready(connection, sessionPresent);
      },
      message: (message) => this.#events.message(message),
      answered: () => keepAlive.answered(),
      oversize: (bytes) => {
        progress.counts.oversize++;
        log.warn('link.oversize', { bytes, allowed: identity.maximumPacket });
      },
      closed: (closing) => {
        this.#connection = undefined;
        this.#stayAway();
        const { sent, received } = connection.traffic;
        progress.counts.sentBytes += sent;
        progress.counts.receivedBytes += received;
        if (closing.overdue) progress.counts.overdue++;
        // A connection does not count as good if the broker acknowledged nothing on it.
        const lasted = closing.stage === 'connected' && !closing.overdue && performance.now() - since >= stable;
        if (lasted) this.#backoff.reset();
        if (closing.stage === 'connected') {
          keepAlive.ended(closing.unanswered);
          log.info('link.ended', { broker: target.address.text, reason: closing.reason });
          this.#events.lost(connection, closing.reason);
        }
        this.#next(connection, choice, closing, lasted);
      },
    });
    this.#connection = connection;
  }

  #next(connection: MqttConnection, choice: ProtocolChoice, closing: Closing, lasted: boolean): void {
    const { log, targets, keepAlive, progress } = this.#options;
    const again = choice.ended(closing);
    if (this.#stopped) return;
    if (this.#leaving) {
      this.#leaving = false;
      this.#at = 0;
      this.#dial();
      return;
    }
    if (again) {
      log.info('link.fallback', { broker: connection.target.address.text, protocol: protocolName(choice.version) });
      this.#dial();
      return;
    }
    const error = closing.stage === 'connected' ? undefined : unreachable(connection.target, closing);
    if (error !== undefined) {
      keepAlive.missed();
      log.warn('link.unreachable', { broker: connection.target.address.text, reason: error.message });
    }
    // After a good connection try the same broker first: it has the session and the messages in it.
    if (!lasted) this.#at = (this.#at + 1) % targets.length;
    // After a loss always wait, so that the cars of a fleet do not all connect to the next broker at the same time.
    if (error !== undefined && ++this.#tried < targets.length) {
      this.#dial();
      return;
    }
    this.#tried = 0;
    progress.enter('waiting', error?.message ?? closing.reason);
    this.#timer = setTimeout(() => this.#dial(), this.#backoff.next());
    if (error !== undefined) this.#events.failed(error);
  }

  /**
   * On a fallback address, probes the first address after a while and returns to it if it is reachable. The delay is
   * random, so that the cars of a fleet do not all return at the same time.
   */
  #lookHome(): void {
    const { homing, random, targets, log, identity } = this.#options;
    this.#homing = setTimeout(
      () => {
        const probe = openSocket(targets[0], () => {
          this.#stayAway();
          const connection = this.#connection;
          if (this.#stopped || this.#at === 0 || connection === undefined || connection.ended) return;
          log.info('link.homing', { broker: targets[0].address.text });
          this.#leaving = true;
          // This never rejects, because there is no last message.
          void connection.end(farewell);
        });
        this.#probe = probe;
        const late = `no answer within ${identity.timeout / 1000} s`;
        this.#homing = setTimeout(() => probe.destroy(new Error(late)), identity.timeout);
        probe.once('error', (error) => {
          clearTimeout(this.#homing);
          log.info('link.homingFailed', { broker: targets[0].address.text, reason: error.message });
          if (!this.#stopped && this.#at > 0 && this.#connection?.accepted === true) this.#lookHome();
        });
      },
      homing * (0.5 + random()),
    );
  }

  #stayAway(): void {
    clearTimeout(this.#homing);
    this.#probe?.destroy();
    this.#probe = undefined;
  }
}
