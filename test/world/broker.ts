/**
 * A model of a broker and of the network to it, as far as MQTT lets them go: connections end at any moment, with what is
 * on its way arriving or not; acknowledgements come late, in any order, or never; what was not acknowledged comes again;
 * sessions keep messages for cars that are away, until the broker loses them.
 */
import type { LinkEvents, OutgoingMessage } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Chance } from './chance.ts';
import type { WorldTime } from './time.ts';

/** Silence after which the two ends find out that a connection is half-open, ms. */
const CAR_NOTICES = 90_000;
const BROKER_NOTICES = 100_000;

export interface BrokerParts {
  readonly time: WorldTime;
  readonly chance: Chance;
  /** Hands a message of a car to the hub; resolves when the hub has acknowledged it. */
  readonly deliver: (topic: string, payload: Uint8Array) => Promise<void>;
  /** The broker is part of the hub and acknowledges what the hub has; otherwise it acknowledges by itself. */
  readonly embedded: boolean;
  /** Told of each car that connected, as its subscription. */
  readonly subscribed: (vin: string) => void;
}

interface DownMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  sent: boolean;
}

/** What the broker keeps for a car that is away. */
interface Session {
  queue: DownMessage[];
  connection: Connection | undefined;
}

export class Broker {
  up = true;
  readonly #parts: BrokerParts;
  readonly #sessions = new Map<string, Session>();
  /** Acknowledged to a car and not yet by the hub, oldest first. */
  #backlog: { readonly topic: string; readonly payload: Uint8Array }[] = [];
  #forwarding = false;

  constructor(parts: BrokerParts) {
    this.#parts = parts;
  }

  /** Messages that the broker has acknowledged to cars and has to hand on. */
  get backlog(): number {
    return this.#backlog.length;
  }

  /** A car connects; another connection of the same car ends. */
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

  /** A message from a car; resolves when it is to be acknowledged, rejects when the connection is to end. */
  async receive(message: OutgoingMessage): Promise<void> {
    const { embedded, deliver } = this.#parts;
    const { topic, payload } = message;
    if (embedded) return deliver(topic, payload);
    this.#backlog.push({ topic, payload });
    this.forward();
  }

  /** Hands on what waits for the hub; what it does not acknowledge stays. */
  forward(): void {
    if (this.#forwarding || !this.up) return;
    this.#forwarding = true;
    void this.#forward().finally(() => {
      this.#forwarding = false;
    });
  }

  /** A message to a car; one whose session is lost never gets it. */
  send(vin: string, topic: string, payload: Uint8Array): void {
    const session = this.#sessions.get(vin);
    if (session === undefined || !this.up) return;
    session.queue.push({ topic, payload, sent: false });
    this.#flush(session);
  }

  /** Ends all connections; how many messages that were acknowledged to cars are lost with it. */
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
  /** ms that each packet takes more. */
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
  /** The run of the agent has not ended. */
  readonly alive: () => boolean;
  readonly ended: (reason: string) => void;
  readonly message: (topic: string, payload: Uint8Array) => void;
}

/** One connection of a car to the broker, seen from both ends. */
export class Connection {
  readonly vin: string;
  readonly #parts: ConnectionParts;
  /** Packets pass. */
  #open = true;
  /** What the car has sent before the end still arrives. */
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
        broker.receive(message).then(
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

  /** Both ends find out at once. `drains`: what the car has sent by now still arrives. */
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

  /** Nothing passes any more, and neither end knows. */
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
    // Each for itself: the order of acknowledgements is the broker's.
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

/** How a car reaches the broker: one connection after the other. */
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
