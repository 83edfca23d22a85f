/**
 * A model of a broker and its network with all the freedom that MQTT allows: connections end at any time, with messages
 * in flight arriving or not. Acknowledgements come late, in any order, or never. Unacknowledged messages are repeated.
 * Sessions queue messages for cars that are away, until the broker loses the session.
 */
import type { LinkEvents, OutgoingMessage } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Chance } from './chance.ts';
import type { WorldTime } from './time.ts';

/** Silence after which each end detects a half-open connection, ms. */
const CAR_NOTICES = 90_000;
const BROKER_NOTICES = 100_000;

export interface BrokerParts {
  readonly time: WorldTime;
  readonly chance: Chance;
  /** Delivers a message of a car to the hub. Resolves when the hub has acknowledged it. */
  readonly deliver: (topic: string, payload: Uint8Array) => Promise<void>;
  /**
   * Whether the broker is part of the hub and acknowledges only messages that the hub has. Otherwise it acknowledges at
   * once.
   */
  readonly embedded: boolean;
  /** Called for each car that has connected and subscribed. */
  readonly subscribed: (vin: string) => void;
}

interface DownMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  sent: boolean;
}

/** State of the broker for a car that is away. */
interface Session {
  queue: DownMessage[];
  connection: Connection | undefined;
}

export class Broker {
  up = true;
  readonly #parts: BrokerParts;
  readonly #sessions = new Map<string, Session>();
  /** Messages acknowledged to cars and not yet by the hub, oldest first. */
  #backlog: { readonly topic: string; readonly payload: Uint8Array }[] = [];
  #forwarding = false;
  /** Newest message of each car. */
  readonly #latest = new Map<string, OutgoingMessage>();

  constructor(parts: BrokerParts) {
    this.#parts = parts;
  }

  /** Number of messages that the broker has acknowledged to cars and must still deliver. */
  get backlog(): number {
    return this.#backlog.length;
  }

  /** Returns the newest message of a car. */
  latest(vin: string): OutgoingMessage | undefined {
    return this.#latest.get(vin);
  }

  /** Connects a car. Another connection of the same car ends. */
  attach(connection: Connection): void {
    const { vin } = connection;
    const session: Session = this.#sessions.get(vin) ?? { queue: [], connection: undefined };
    this.#sessions.set(vin, session);
    session.connection?.end('taken over', false);
    session.connection = connection;
    for (const message of session.queue) message.sent = false;
    this.#parts.subscribed(vin);
    this.#flush(session);
  }

  detach(connection: Connection): void {
    const session = this.#sessions.get(connection.vin);
    if (session?.connection === connection) session.connection = undefined;
  }

  /** A message, from the car `vin` or a stranger. Resolves when it may be acknowledged, rejects when the connection must end. */
  async receive(message: OutgoingMessage, vin?: string): Promise<void> {
    if (vin !== undefined) this.#latest.set(vin, message);
    const { embedded, deliver } = this.#parts;
    const { topic, payload } = message;
    if (embedded) return deliver(topic, payload);
    this.#backlog.push({ topic, payload });
    this.forward();
  }

  /** Delivers the backlog to the hub. Messages without an acknowledgement stay. */
  forward(): void {
    if (this.#forwarding || !this.up) return;
    this.#forwarding = true;
    void this.#forward().finally(() => {
      this.#forwarding = false;
    });
  }

  /** Sends a message to a car. It is lost with its session. */
  send(vin: string, topic: string, payload: Uint8Array): void {
    const session = this.#sessions.get(vin);
    if (session === undefined || !this.up) return;
    session.queue.push({ topic, payload, sent: false });
    this.#flush(session);
  }

  /** Ends all connections. Returns the number of lost messages that were acknowledged to cars. */
  stop(loses: 'nothing' | 'sessions' | 'messages'): number {
    this.up = false;
    for (const { connection } of this.#sessions.values()) connection?.end('the broker stopped', false);
    if (loses === 'sessions') for (const session of this.#sessions.values()) session.queue = [];
    if (loses !== 'messages') return 0;
    return this.#backlog.splice(0).length;
  }

  start(): void {
    this.up = true;
    this.forward();
  }

  async #forward(): Promise<void> {
    const { time, chance, deliver } = this.#parts;
    while (this.#backlog.length > 0 && this.up) {
      const batch = this.#backlog.slice(0, 20);
      await time.wait(chance.between(1, 30));
      const results = await Promise.allSettled(batch.map(({ topic, payload }) => deliver(topic, payload)));
      const kept = new Set(batch.filter((_, place) => results[place]?.status === 'rejected'));
      this.#backlog = this.#backlog.filter((one) => !batch.includes(one) || kept.has(one));
      if (kept.size > 0) await time.wait(2_000);
    }
  }

  #flush(session: Session): void {
    const { connection, queue } = session;
    if (connection === undefined) return;
    for (const message of queue) {
      if (message.sent) continue;
      message.sent = true;
      connection.carryDown(message.topic, message.payload, () => {
        if (session.connection !== connection) return;
        session.queue = session.queue.filter((one) => one !== message);
      });
    }
  }
}

/** The network between one car and the broker. */
export interface Network {
  /** No connection can be made. */
  dark: boolean;
  /** Additional delay of each packet, ms. */
  lag: number;
}

interface Publish {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface ConnectionParts {
  readonly vin: string;
  readonly time: WorldTime;
  readonly chance: Chance;
  readonly network: Network;
  readonly broker: Broker;
  /** Whether the run of the agent is still going on. */
  readonly alive: () => boolean;
  readonly ended: (reason: string) => void;
  readonly message: (topic: string, payload: Uint8Array) => void;
}

/** One connection of a car to the broker, with both ends. */
export class Connection {
  readonly vin: string;
  readonly #parts: ConnectionParts;
  /** Whether packets pass. */
  #open = true;
  /** Whether packets that the car sent before the end still arrive. */
  #drains = false;
  #halfOpen = false;
  #upAt = 0;
  #downAt = 0;
  readonly #publishes = new Set<Publish>();

  constructor(parts: ConnectionParts) {
    this.vin = parts.vin;
    this.#parts = parts;
  }

  publish(message: OutgoingMessage): Promise<void> {
    const { time, broker } = this.#parts;
    return new Promise((resolve, reject) => {
      const publish: Publish = { resolve, reject };
      this.#publishes.add(publish);
      this.#upAt = Math.max(this.#upAt + 1, time.now + this.#latency());
      time.after(this.#upAt - time.now, () => {
        if (!this.#open && !this.#drains) return;
        if (this.#halfOpen || !broker.up) return;
        broker.receive(message, this.vin).then(
          () => this.#acknowledge(publish),
          () => this.end('the broker could not keep a message', false),
        );
      });
    });
  }

  carryDown(topic: string, payload: Uint8Array, acknowledged: () => void): void {
    const { time, message } = this.#parts;
    this.#downAt = Math.max(this.#downAt + 1, time.now + this.#latency());
    time.after(this.#downAt - time.now, () => {
      if (!this.#passes()) return;
      message(topic, payload);
      time.after(this.#latency(), () => {
        if (this.#passes()) acknowledged();
      });
    });
  }

  /** Ends the connection at both ends at once. `drains`: packets already sent by the car still arrive. */
  end(reason: string, drains: boolean): void {
    if (!this.#open) return;
    this.#open = false;
    this.#drains = drains;
    this.#parts.broker.detach(this);
    if (!this.#parts.alive()) return;
    for (const { reject } of this.#publishes) reject(new VigieError('link.lost', reason));
    this.#publishes.clear();
    this.#parts.ended(reason);
  }

  /** Blocks all packets without notice to either end. */
  freeze(): void {
    const { time, broker } = this.#parts;
    this.#halfOpen = true;
    time.after(BROKER_NOTICES, () => broker.detach(this));
    time.after(CAR_NOTICES, () => this.end('keepalive timeout', false));
  }

  #passes(): boolean {
    return this.#open && !this.#halfOpen && this.#parts.alive();
  }

  #acknowledge(publish: Publish): void {
    const { time, chance } = this.#parts;
    // Each acknowledgement has its own delay, so their order is the broker's.
    time.after(this.#latency() + chance.below(50), () => {
      if (!this.#passes() || !this.#publishes.delete(publish)) return;
      publish.resolve();
    });
  }

  #latency(): number {
    const { chance, network } = this.#parts;
    return chance.between(5, 60) + network.lag;
  }
}

/** Link of a car to the broker: one connection after another. */
export class WorldLink {
  readonly window = 20;
  connection: Connection | undefined;
  readonly #parts: Omit<ConnectionParts, 'ended' | 'message'>;

  constructor(parts: Omit<ConnectionParts, 'ended' | 'message'>) {
    this.#parts = parts;
  }

  get connected(): boolean {
    return this.connection !== undefined;
  }

  publish(message: OutgoingMessage): Promise<void> {
    if (this.connection !== undefined) return this.connection.publish(message);
    return Promise.reject(new VigieError('link.lost', 'there is no connection'));
  }

  open(events: LinkEvents): void {
    const { time, chance, network, broker, alive } = this.#parts;
    let wait = 1_000;
    const attempt = (): void => {
      time.after(chance.between(wait >> 1, wait), () => {
        if (!alive()) return;
        if (network.dark || !broker.up) {
          wait = Math.min(2 * wait, 30_000);
          attempt();
          return;
        }
        const connection: Connection = new Connection({
          ...this.#parts,
          message: (topic, payload) => events.message(topic, payload, undefined),
          ended: (reason) => {
            if (this.connection !== connection) return;
            this.connection = undefined;
            events.down(reason);
            wait = 1_000;
            attempt();
          },
        });
        this.connection = connection;
        broker.attach(connection);
        events.up();
      });
    };
    attempt();
  }
}
