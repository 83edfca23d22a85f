/** One connection to a broker, from CONNECT to the end of the socket; never used again after that. */
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

// Packet identifiers are written as they are needed, not taken from 65,536 buffers that are made with the first packet.
writeToStream.cacheNumbers = false;

/**
 * Where a message was handled, the library does not acknowledge it when it is given an error, which has no other effect. One for
 * all of them: an error finds out where it was made, and that costs more than the message.
 */
const UNACKNOWLEDGED = new Error('acknowledged later, or left to the broker');

interface ConnectionEvents {
  /** There is a transport: TCP is connected, TLS is agreed upon. */
  reached(): void;
  /** The broker has accepted. `sessionPresent` if it still has the previous session. */
  ready(sessionPresent: boolean): void;
  /** It is acknowledged at once or, with a promise, when that resolves; when it rejects, the connection ends. */
  message(message: Incoming): void | Promise<void>;
  /** A packet of this size was not taken; the connection ends, unless the packet came in one piece. */
  oversize(bytes: number): void;
  /** The broker answered the question whether it is there. */
  answered(): void;
  /** Called once, last. */
  closed(closing: Closing): void;
}

/** A message from the broker; the payload is a copy that may be kept. */
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
  /** Publishes beyond the window; they live and die with this connection. */
  readonly #waiting = new Set<Pending>();
  #refilling = false;
  readonly #timer: NodeJS.Timeout;
  readonly #acknowledgements: Acknowledgements;
  #overdue = false;
  #stage: Closing['stage'] = 'dialing';
  /** Publishes are taken. */
  #open = false;
  /** Messages are left to the broker, which keeps them in the session. */
  #leaving = false;
  #window: number;
  #limits: NonNullable<IConnackPacket['properties']> = {};
  #cause: Error | undefined;
  /** Why this side ended it. */
  #ended: string | undefined;
  #unanswered = false;
  /** Set while the library handles a message that is acknowledged later. */
  #taking: Promise<void> | undefined;
  readonly #takings: Taking;
  /** Bytes received until the last ping. */
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

  /** The broker has accepted the CONNECT. */
  get accepted(): boolean {
    return this.#stage === 'connected';
  }

  /** Nothing can be published any more. */
  get ended(): boolean {
    return this.#stage === 'connected' && !this.#open;
  }

  /** Bytes given to and taken from the transport, TLS not counted. */
  get traffic(): { readonly sent: number; readonly received: number } {
    return { sent: this.#socket.bytesWritten, received: this.#socket.bytesRead };
  }

  /**
   * Asks the broker after so many seconds of silence whether it is there, from now on; never later than was agreed upon
   * when it accepted.
   */
  askAfter(seconds: number): void {
    const { keepaliveManager, keepalive } = this.#client;
    // No ping timer before the broker has accepted, or if the broker wants no pings.
    (keepaliveManager as typeof keepaliveManager | null)?.setKeepalive(Math.min(seconds, keepalive));
  }

  /** Our own address on this connection. */
  get localAddress(): string | undefined {
    return this.#localAddress;
  }

  /** Whether the broker shares a subscription among its subscribers (MQTT 5 clause 3.2.2.3.13; 3.1.1 has none). */
  get shares(): boolean {
    return this.version === 5 && this.#limits.sharedSubscriptionAvailable !== false;
  }

  /** The smaller of our window and the broker's Receive Maximum (MQTT 5 clause 3.2.2.3.3). */
  get window(): number {
    return this.#window;
  }

  /**
   * Resolves on PUBACK. Beyond the window it waits for a slot. Rejects with `link.lost` when the connection ends
   * first, with `link.refused` for a negative reason code or what the broker said in CONNACK that it does not take.
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
   * Ends it in order: what waits for a slot is rejected, `last` is published, what is in flight and what is being taken is
   * waited for, then DISCONNECT. What comes meanwhile is not acknowledged, so the broker sends it again in the next connection. After
   * `deadline` milliseconds the socket is destroyed instead. Settles when the socket is closed; rejects when `last`
   * was not acknowledged.
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

  /** Ends it at once; the broker will publish the will. */
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
      // A question that was not put after a silence says nothing of silences.
      if (packet.cmd === 'pingresp' && !this.#acknowledgements.answered()) this.#events.answered();
      const fault = brokenRule(packet);
      if (fault !== undefined) this.#fail(new Error(fault));
      // The library would handle it, and what came with it, after the end of the connection, and throws at some of that.
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
    // After an error the library may leave the socket open, for instance when bytes cannot be parsed.
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

  /** Earlier packets of the broker precede its answer, and may take long to arrive or to be processed. */
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
    // A packet that came within one read has passed the watch; on MQTT 5 the library has ended the connection.
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
        // Runs after all acknowledgements that arrived together, so that their successors are sent together too.
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
