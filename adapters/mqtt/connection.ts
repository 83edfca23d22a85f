/** One connection to a broker, from CONNECT until the socket closes; it is not used again after that. */
import './packet-numbers.ts';
import type { Socket } from 'node:net';
import { ErrorWithReasonCode, type IConnackPacket, type IPublishPacket, MqttClient } from 'mqtt';
import { writeToStream } from 'mqtt-packet';
import { VigieError } from '../../protocol/errors.ts';
import { Acknowledgements, machineClock, Taking } from './acknowledgements.ts';
import { acknowledge, asBuffer } from './bytes.ts';
import { readChecked } from './checked-reading.ts';
import { type Identity, sayable } from './identity.ts';
import { type Oversize, packetBytes } from './packet-bound.ts';
import { brokenRule } from './packet-rules.ts';
import type { Closing, Version } from './protocol-choice.ts';
import { type Outgoing, publishOptions, reasonText, refusal, unsendable } from './publishing.ts';
import { type BrokerEndpoint, failedSocket, openSocket } from './socket.ts';

// Encode packet identifiers when needed. Otherwise the first packet would create 65,536 buffers that contain them.
writeToStream.cacheNumbers = false;

/**
 * If a message handler returns an error, the library does not acknowledge the message; nothing else happens. All
 * messages share this error: creating one captures a stack trace, which costs more than the message.
 */
const UNACKNOWLEDGED = new Error('acknowledged later, or left to the broker');

interface ConnectionEvents {
  /** Called when the transport is open: TCP is connected and TLS negotiated. */
  reached(): void;
  /** Called when the broker has accepted the CONNECT. `sessionPresent`: the broker still has the previous session. */
  ready(sessionPresent: boolean): void;
  /** Acknowledges the message at once, or when a returned promise resolves. If that rejects, the connection ends. */
  message(message: Incoming): void | Promise<void>;
  /** A packet of this size was dropped. The connection ends, unless the packet arrived within one read. */
  oversize(bytes: number): void;
  /** Called when the broker has responded to a ping. */
  answered(): void;
  /** Called once, as the last event. */
  closed(closing: Closing): void;
}

/** A message from the broker; the payload is a copy that the receiver may keep. */
export interface Incoming {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly retained: boolean;
  readonly correlation: Uint8Array | undefined;
  readonly responseTopic: string | undefined;
}

interface Pending {
  readonly message: Outgoing;
  resolve(): void;
  reject(error: VigieError): void;
}

export class MqttConnection {
  readonly version: Version;
  readonly target: BrokerEndpoint;
  readonly #identity: Identity;
  readonly #events: ConnectionEvents;
  readonly #client: MqttClient;
  readonly #socket: Socket;
  readonly #inFlight = new Set<Pending>();
  /** Publishes beyond the window, which wait for a slot; they end with this connection. */
  readonly #waiting = new Set<Pending>();
  #refilling = false;
  readonly #timer: NodeJS.Timeout;
  readonly #acknowledgements: Acknowledgements;
  #overdue = false;
  #stage: Closing['stage'] = 'dialing';
  /** True while {@link publish} accepts messages. */
  #open = false;
  /** True while incoming messages stay unacknowledged, in the session at the broker. */
  #leaving = false;
  #window: number;
  #limits: NonNullable<IConnackPacket['properties']> = {};
  #cause: Error | undefined;
  /** Reason why this side has ended the connection. */
  #ended: string | undefined;
  #unanswered = false;
  /** Set while the library handles a message that will be acknowledged later. */
  #taking: Promise<void> | undefined;
  readonly #takings: Taking;
  /** Number of bytes received when the last ping was sent. */
  #readWhenAsked = 0;
  #localAddress: string | undefined;

  constructor(target: BrokerEndpoint, version: Version, identity: Identity, events: ConnectionEvents) {
    this.target = target;
    this.version = version;
    this.#identity = identity;
    this.#events = events;
    this.#window = identity.window;
    const { options, fault } = sayable(version, identity);
    const open = fault === undefined ? openSocket : (): Socket => failedSocket(fault);
    this.#socket = open(target, () => {
      if (this.#stage !== 'dialing') return;
      this.#stage = 'connecting';
      this.#localAddress = this.#socket.localAddress;
      events.reached();
    });
    readChecked(this.#socket, {
      version,
      maximumPacket: identity.maximumPacket,
      oversize: (packet) => this.#refuse(packet),
      failed: (error) => this.#fail(error),
    });
    this.#client = new MqttClient(() => this.#socket, options);
    this.#timer = setTimeout(() => this.destroy(`no answer within ${identity.timeout / 1000} s`), identity.timeout);
    this.#acknowledgements = new Acknowledgements({
      clock: machineClock,
      patience: identity.timeout,
      ask: () => this.#client.sendPing(),
      overdue: () => {
        this.#overdue = true;
        this.destroy(`the broker answers and acknowledged nothing within ${identity.timeout / 1000} s`);
      },
    });
    this.#takings = new Taking({
      most: identity.receiveMaximum,
      acknowledge: (id) => void (this.#socket.writable && acknowledge(this.#socket, id)),
      failed: (error) => this.destroy(`a message was not taken: ${error.message}`),
    });
    this.#listen();
  }

  /** True once the broker has accepted the CONNECT. */
  get accepted(): boolean {
    return this.#stage === 'connected';
  }

  /** True if publishing is no longer possible. */
  get ended(): boolean {
    return this.#stage === 'connected' && !this.#open;
  }

  /** Bytes that the transport has sent and received, excluding TLS overhead. */
  get traffic(): { readonly sent: number; readonly received: number } {
    return { sent: this.#socket.bytesWritten, received: this.#socket.bytesRead };
  }

  /** Sets, from now on, the time in seconds without sent packets before a ping; at most the keep-alive in CONNECT. */
  askAfter(seconds: number): void {
    const { keepaliveManager, keepalive } = this.#client;
    // The ping timer does not exist before the broker has accepted, or if the broker wants no pings.
    (keepaliveManager as typeof keepaliveManager | null)?.setKeepalive(Math.min(seconds, keepalive));
  }

  /** Local address of this connection. */
  get localAddress(): string | undefined {
    return this.#localAddress;
  }

  /** True if the broker supports shared subscriptions (MQTT 5 clause 3.2.2.3.13); always false with 3.1.1. */
  get shares(): boolean {
    return this.version === 5 && this.#limits.sharedSubscriptionAvailable !== false;
  }

  /** The smaller of our window and the broker's Receive Maximum (MQTT 5 clause 3.2.2.3.3). */
  get window(): number {
    return this.#window;
  }

  /**
   * Resolves on PUBACK. A message beyond the window waits for a slot. Rejects with `link.lost` if the connection ends
   * first, and with `link.refused` for a negative reason code or for a message that the CONNACK does not allow.
   */
  publish(message: Outgoing): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#open) return reject(this.#lost(message.topic));
      const fault = unsendable(message, this.#limits.maximumPacketSize);
      if (fault !== undefined) return reject(fault);
      const pending = { message, resolve, reject };
      if (this.#inFlight.size < this.#window) this.#send(pending);
      else this.#waiting.add(pending);
    });
  }

  /** Resolves on SUBACK with QoS 1; rejects with `link.refused` or `link.lost`. */
  subscribe(filter: string): Promise<void> {
    return this.#ask(filter, (done) => {
      this.#client.subscribe(filter, { qos: 1 }, (error, granted) => {
        const code = granted?.[0]?.qos ?? 0;
        done(error ?? (code >= 0x80 ? new ErrorWithReasonCode('Subscription refused', code) : null));
      });
    });
  }

  /** Resolves on UNSUBACK. */
  unsubscribe(filter: string): Promise<void> {
    return this.#ask(filter, (done) => this.#client.unsubscribe(filter, (error) => done(error ?? null)));
  }

  /**
   * Ends the connection in order: rejects messages that wait for a slot, publishes `last`, waits for sent and received
   * messages that are not yet acknowledged, then sends DISCONNECT. New incoming messages stay unacknowledged, so the
   * broker sends them on the next connection. After `deadline` ms it destroys the socket instead. Settles when the
   * socket is closed; rejects if `last` was not acknowledged.
   */
  async end(deadline: number, last?: Outgoing, options: { readonly forgetSession?: boolean } = {}): Promise<void> {
    if (this.#socket.closed) return;
    this.#leaving = true;
    const closed = new Promise((resolve) => this.#socket.once('close', resolve));
    const late = setTimeout(() => this.destroy(`the broker did not answer within ${deadline / 1000} s`), deadline);
    for (const pending of this.#waiting) pending.reject(this.#lost(pending.message.topic));
    this.#waiting.clear();
    const farewell = last === undefined || !this.#open ? undefined : this.publish(last);
    this.#open = false;
    try {
      await farewell;
      await Promise.race([this.#takings.settled, closed]);
    } finally {
      this.#ended ??= 'closed by this side';
      const forget = options.forgetSession === true && this.version === 5;
      if (this.#stage !== 'connected') this.#socket.destroy();
      else this.#client.end(false, forget ? { reasonCode: 0, properties: { sessionExpiryInterval: 0 } } : {});
      await closed;
      clearTimeout(late);
    }
  }

  /** Closes the connection immediately; the broker will publish the will. */
  destroy(reason: string): void {
    this.#ended ??= reason;
    this.#socket.destroy();
  }

  #listen(): void {
    const client = this.#client;
    client.on('connect', (connack) => this.#accepted(connack));
    client.on('message', (topic, payload, packet) => {
      this.#taking = this.#received(topic, payload, packet) ?? undefined;
    });
    client.handleMessage = ({ messageId }, done) => {
      const taking = this.#taking;
      this.#taking = undefined;
      if (taking !== undefined) this.#takings.add(taking, messageId ?? 0, () => done(UNACKNOWLEDGED));
      else done(this.#leaving ? UNACKNOWLEDGED : undefined);
    };
    client.onKeepaliveTimeout = () => this.#unansweredQuestion();
    client.on('packetsend', ({ cmd }) => {
      if (cmd === 'pingreq') this.#readWhenAsked = this.#socket.bytesRead;
    });
    client.on('packetreceive', (packet) => {
      // Only a response to a ping after a silence shows how long a silence may be.
      if (packet.cmd === 'pingresp' && !this.#acknowledgements.answered()) this.#events.answered();
      const fault = brokenRule(packet);
      if (fault !== undefined) this.#fail(new Error(fault));
      // The library would handle these packets even after the connection failed, and throw on some of them.
      if (this.#cause !== undefined) Object.assign(packet, { cmd: 'refused' });
    });
    client.on('disconnect', (packet) => {
      const code = packet.reasonCode ?? 0;
      this.#fail(
        new ErrorWithReasonCode(
          packet.properties?.reasonString ?? `the broker disconnected: ${reasonText(code)}`,
          code,
        ),
      );
    });
    // After some errors, e.g. if bytes cannot be parsed, the library leaves the socket open.
    client.on('error', (error) => this.#fail(error));
    client.on('close', () => this.#closed());
  }

  #fail(error: Error): void {
    this.#cause ??= error;
    this.#socket.destroy();
  }

  #accepted(connack: IConnackPacket): void {
    clearTimeout(this.#timer);
    this.#stage = 'connected';
    this.#open = true;
    this.#limits = connack.properties ?? {};
    this.#window = Math.min(this.#identity.window, this.#limits.receiveMaximum ?? 0xffff);
    this.#events.ready(connack.sessionPresent);
  }

  /** The ping response follows earlier packets of the broker, which may need long to arrive or to be handled. */
  #unansweredQuestion(): void {
    if (this.#takings.holding || this.#socket.bytesRead > this.#readWhenAsked) {
      this.#client.sendPing();
      this.#client.reschedulePing(true);
      return;
    }
    this.#unanswered = true;
    this.#fail(new Error('keepalive: the broker did not answer'));
  }

  #received(topic: string, payload: Buffer, packet: IPublishPacket): void | Promise<void> {
    if (this.#leaving || this.#cause !== undefined) return;
    // A packet that arrived within one read has bypassed the size check; with MQTT 5 the library has ended the
    // connection.
    const bytes = packetBytes(packet.length ?? payload.length);
    if (bytes > this.#identity.maximumPacket) {
      this.#events.oversize(bytes);
      return;
    }
    const properties = packet.properties;
    return this.#events.message({
      topic,
      payload: new Uint8Array(payload),
      retained: packet.retain,
      correlation: properties?.correlationData === undefined ? undefined : new Uint8Array(properties.correlationData),
      responseTopic: properties?.responseTopic,
    });
  }

  #send(pending: Pending): void {
    const { message } = pending;
    this.#inFlight.add(pending);
    this.#acknowledgements.expect(pending);
    this.#client.publish(message.topic, asBuffer(message.payload), publishOptions(message, this.version), (error) => {
      this.#inFlight.delete(pending);
      this.#acknowledgements.came(pending);
      if (error === undefined || error === null) pending.resolve();
      else pending.reject(refusal(message.topic, error));
      if (this.#waiting.size > 0 && !this.#refilling) {
        this.#refilling = true;
        // Refill after all acknowledgements that arrived together, so that the next messages are sent together too.
        queueMicrotask(() => this.#refill());
      }
    });
  }

  #refill(): void {
    this.#refilling = false;
    for (const next of this.#waiting) {
      if (this.#inFlight.size >= this.#window || this.#socket.destroyed) break;
      this.#waiting.delete(next);
      this.#send(next);
    }
  }

  #ask(filter: string, start: (done: (error: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#open) return reject(this.#lost(filter));
      this.#acknowledgements.expect(start);
      start((error) => {
        this.#acknowledgements.came(start);
        if (error === null) resolve();
        else reject(this.#socket.destroyed ? this.#lost(filter) : refusal(filter, error));
      });
    });
  }

  #closed(): void {
    clearTimeout(this.#timer);
    this.#acknowledgements.stop();
    this.#open = false;
    const lost = [...this.#inFlight, ...this.#waiting];
    this.#inFlight.clear();
    this.#waiting.clear();
    for (const pending of lost) pending.reject(this.#lost(pending.message.topic));
    const code = this.#cause !== undefined && 'code' in this.#cause ? this.#cause.code : undefined;
    this.#events.closed({
      stage: this.#stage,
      reason: this.#ended ?? this.#cause?.message ?? 'the broker closed the connection',
      code: typeof code === 'number' ? code : undefined,
      silent: this.#ended === undefined && (code === undefined || code === 'ECONNRESET' || code === 'EPIPE'),
      unanswered: this.#unanswered,
      overdue: this.#overdue,
      cause: this.#cause,
    });
  }

  #lost(where: string): VigieError {
    return new VigieError('link.lost', 'there is no connection to the broker', { where, cause: this.#cause });
  }

  #refuse(oversize: Oversize): void {
    this.#open = false;
    this.#ended ??= `a packet of ${oversize.bytes} bytes came, ${this.#identity.maximumPacket} are allowed`;
    this.#events.oversize(oversize.bytes);
    if (!oversize.acknowledged) this.#socket.destroy();
  }
}
