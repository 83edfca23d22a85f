/** Connects a hub to an external broker: receives cars' messages, split among hubs, and publishes to cars. */
import { setTimeout } from 'node:timers/promises';
import {
  type BrokerAbilities,
  CloudClient,
  type CloudClientOptions,
  type Subscriber,
} from '../../adapters/mqtt/cloud-client.ts';
import type { MqttAddress } from '../../adapters/mqtt/link.ts';
import { retainedAt } from '../../adapters/mqtt/retained.ts';
import { VigieError } from '../../protocol/errors.ts';
import { parseTopic, presenceFilter, retainedOf, upFilter, upTopic } from '../../protocol/topics.ts';
import type { HeldLock, HubLocks, HubLog } from '../core/ports.ts';
import type { BrokerState } from '../core/status.ts';

/** Called with the presence of a car, and each change: `online`, `asleep`, `offline`, or empty if it was deleted. */
export type PresenceReceiver = (vin: string, presence: string) => void;

export interface FleetReceiverOptions {
  readonly address: Omit<MqttAddress, 'clientId' | 'sessionExpiry'>;
  /** Hubs of one group share the messages of all cars. */
  readonly group: string;
  /** Name of this hub in the group. The broker identifies the session by group and name. */
  readonly name: string;
  /**
   * Contents of this hub's claim of its name at the broker. Unique to this hub and stable across restarts, so that the
   * hub recognizes an earlier claim of its own that arrives late.
   */
  readonly identity: string;
  /** Largest number of unacknowledged messages from the broker (MQTT 5). */
  readonly receiveMaximum: number;
  /** Stores the message of a car. Resolves when it is on disk; only then is it acknowledged. */
  readonly accept: (topic: string, payload: Uint8Array, retained: boolean) => Promise<void>;
  /** Call when a car has published its presence, which the broker retains. */
  readonly presence: (vin: string) => void;
  /** Call when a car has connected. */
  readonly online: (vin: string) => void;
  /** VINs of all known cars. */
  readonly known: () => Promise<readonly string[]>;
  /** Locks. If the broker has no shared subscriptions, only the hub that holds the lock receives messages. */
  readonly locks: HubLocks;
  /** Called when another hub uses the same name, or the broker refused this hub, which then receives nothing more. */
  readonly displaced: (error: VigieError) => void;
  readonly log: HubLog;
}

/** Time in s for which the broker keeps messages for a hub that is away. */
const SESSION = 7 * 86_400;
/** Time in s after which the broker drops an undelivered command. The car would refuse it by then. */
const EXPIRY = 120;
/** Delay in ms before the next attempt to reach a broker or database. */
const RETRY = 1_000;

/** Kinds of messages of a car that are retained. */
const RETAINED = ['status', 'hello', 'monitor'] as const;

/** Number of passes. Each pass clears the topics that the previous one found. */
const CLEARING_ROUNDS = 3;
const MAY_WRITE = 'let the hub write to vigie/1/+/up/+, vigie/1/+/presence and vigie/1/+/down/+';

const ignore = (): void => undefined;
const inUse = (reason: string): VigieError => new VigieError('usage.wrong', reason);

export class FleetReceiver {
  readonly #options: FleetReceiverOptions;
  readonly #stopping = new AbortController();
  #client: CloudClient | undefined;
  /** The client that receives messages of cars: {@link #client} if the broker has shared subscriptions. */
  #receivingClient: CloudClient | undefined;
  #claimed = false;
  /** Resolves when the first message arrives. */
  readonly #receiving: Promise<void>;
  #received: () => void = ignore;
  #turns: Promise<void> = Promise.resolve();
  /** Cars with retained messages that are read only to be cleared. */
  readonly #clearing = new Set<string>();

  private constructor(options: FleetReceiverOptions) {
    this.#options = options;
    this.#receiving = new Promise((resolve) => {
      this.#received = resolve;
    });
  }

  /**
   * Connects. Rejects with `link.refused` if the broker cannot be reached or refuses the hub, and with
   * `configuration.wrong` if the address or certificates cannot be used.
   */
  static async start(options: FleetReceiverOptions): Promise<FleetReceiver> {
    const receiver = new FleetReceiver(options);
    await receiver.#connect();
    return receiver;
  }

  state(): BrokerState {
    return {
      connected: this.#client?.connected === true,
      receiving: this.#receivingClient?.connected === true,
    };
  }

  /** Publishes to a car. Rejects with `link.lost` if disconnected; the broker then has not received the message. */
  async publish(topic: string, payload: Uint8Array): Promise<void> {
    if (this.#client === undefined) throw new VigieError('link.lost', 'the hub is not connected', { where: topic });
    await this.#client.publish(topic, payload, { expiry: EXPIRY });
  }

  /**
   * Clears the `topics` and all topics of the car that the broker retains. Resolves when the broker retains none. If a
   * broker does not send retained messages to filters with wildcards, its acknowledgement is sufficient. Rejects with
   * `link.lost` if disconnected, and with `link.refused` if the broker forbids clearing them.
   */
  async clearRetained(vin: string, topics: readonly string[]): Promise<void> {
    const client = this.#client;
    if (client === undefined) throw new VigieError('link.lost', 'the hub is not connected', { where: vin });
    const known = retainedOf(vin);
    this.#clearing.add(vin);
    try {
      let found = new Set([...known.topics, ...topics]);
      for (let round = 0; round < CLEARING_ROUNDS; round++) {
        for (const topic of found) await client.publish(topic, new Uint8Array(), { retain: true });
        found = await this.#retainedAt(client, known.filters);
        if (found.size === 0) return;
      }
      throw new VigieError('link.refused', `the broker still retains ${[...found].join(', ')}: ${MAY_WRITE}`);
    } finally {
      this.#clearing.delete(vin);
    }
  }

  /** Follows the presence of all cars on a separate connection. This also works if another hub receives the messages. */
  async followPresence(receive: PresenceReceiver): Promise<() => Promise<void>> {
    const { address, group, name, log } = this.#options;
    const { url, ...rest } = address;
    const client = await CloudClient.connect(url, {
      ...{ ...rest, clientId: `${group}-${name}-presence`, sessionExpiry: 0, log },
      subscriptions: () => [
        {
          filter: presenceFilter,
          receive: (topic, payload) => {
            const vin = parseTopic(topic)?.vin;
            if (vin !== undefined) receive(vin, Buffer.from(payload).toString());
          },
        },
      ],
    });
    return () => client.close();
  }

  /** Returns the topics that match the filters and have a retained message. */
  async #retainedAt(client: CloudClient, filters: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const filter of filters) {
      try {
        for (const topic of (await retainedAt(client, filter)).keys()) found.add(topic);
      } catch (error) {
        // Access rules of the broker may forbid hubs to read messages to cars.
        if (!(error instanceof VigieError) || error.code !== 'link.refused') throw error;
      }
    }
    return found;
  }

  /** Disconnects when all received messages are on disk. The broker keeps later messages for the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#turns;
    await this.#client?.close();
  }

  async #connect(): Promise<void> {
    const { group, name } = this.#options;
    const clientId = `${group}-${name}`;
    const claim = `vigie/hub/${clientId}`;
    let abilities: BrokerAbilities | undefined;
    let fresh = false;
    const client = await CloudClient.connect(this.#options.address.url, {
      ...this.#session(clientId),
      subscriptions: ({ shares }) => [
        { filter: claim, receive: (_topic, payload) => this.#claimedBy(payload) },
        ...(shares ? this.#receivers(`$share/${group}/`) : []),
      ],
      ready: (broker, sessionPresent) => {
        abilities = broker;
        if (this.#client === undefined) {
          fresh = !sessionPresent;
          return;
        }
        if (!this.#claimed) void this.#claimName(this.#client, claim).catch((error) => this.#unclaimed(error));
        if (broker.shares && !sessionPresent) void this.#readRetained(this.#client, broker);
      },
    });
    this.#client = client;
    const claiming = this.#claimName(client, claim);
    try {
      // Do not wait for the acknowledgement while a backlog arrives: brokers may send it after the backlog.
      await Promise.race([claiming, this.#receiving]);
    } catch (error) {
      await client.close();
      throw error;
    }
    claiming.catch((error) => this.#unclaimed(error));
    if (abilities?.shares !== true) {
      await new Promise<void>((resolve) => {
        this.#turns = this.#receiveInTurn(resolve);
      });
      return;
    }
    this.#receivingClient = client;
    if (fresh) void this.#readRetained(client, abilities);
  }

  async #claimName(client: CloudClient, claim: string): Promise<void> {
    await client.publish(claim, Buffer.from(this.#options.identity), { retain: true });
    this.#claimed = true;
  }

  /** Reports a refused claim. A lost connection is not reported: the name is claimed again after reconnecting. */
  #unclaimed(error: unknown): void {
    if (error instanceof VigieError && error.code === 'link.refused') this.#displace(error);
  }

  #session(clientId: string): CloudClientOptions {
    const { address, receiveMaximum, log } = this.#options;
    const { url: _, ...rest } = address;
    return { ...rest, clientId, sessionExpiry: SESSION, keepsSession: true, receiveMaximum, log };
  }

  /** Subscriptions for messages of cars. `share` is a prefix of each filter. */
  #receivers(share: string): readonly Subscriber[] {
    const { accept, online, presence } = this.#options;
    return [
      {
        filter: `${share}${upFilter()}`,
        receive: (topic, payload, { retained }) => {
          this.#received();
          if (retained && this.#clearing.has(parseTopic(topic)?.vin ?? '')) return Promise.resolve();
          return accept(topic, payload, retained);
        },
      },
      {
        filter: `${share}${presenceFilter}`,
        receive: (topic, payload, { retained }) => {
          const parsed = parseTopic(topic);
          if (parsed === undefined || payload.byteLength === 0) return;
          presence(parsed.vin);
          if (!retained && Buffer.from(payload).toString() === 'online') online(parsed.vin);
        },
      },
    ];
  }

  /** The hub that started last owns the name. A previous owner sees the retained claim when it reconnects. */
  #claimedBy(payload: Uint8Array): void {
    if (!this.#claimed || Buffer.from(payload).toString() === this.#options.identity) return;
    const { name } = this.#options;
    this.#displace(inUse(`another hub with the name ${name} has connected to the broker: use another name`));
  }

  /**
   * Claims the group. Hubs that share a database take turns using its lock. Hubs on different databases would end each
   * other's connection for ever, and each would receive only some of the messages. So the hub that started last
   * receives the messages; the previous hub sees that claim when it reconnects, and stops.
   */
  async #claimGroup(client: CloudClient): Promise<void> {
    const { group, identity, locks } = this.#options;
    const own = (await locks.place()) ?? identity;
    const claim = `vigie/hub/${group}`;
    await client.publish(claim, Buffer.from(own), { retain: true });
    // Subscribe only after publishing: otherwise this hub would receive the previous hub's retained claim.
    await client.subscribe(claim, (_topic, payload) => {
      if (Buffer.from(payload).toString() === own) return;
      this.#displace(
        inUse(
          `another hub, on another database, receives for the group ${group}: use the same database, or another group`,
        ),
      );
    });
  }

  #displace(error: VigieError): void {
    if (this.#stopping.signal.aborted) return;
    void this.stop();
    this.#options.displaced(error);
  }

  /**
   * Waits for the group's lock, then receives messages in the group's session until the lock is lost, and repeats this
   * until the hub stops. Calls `settled` once this hub receives messages or is on standby. Never rejects.
   */
  async #receiveInTurn(settled: () => void): Promise<void> {
    const { group, locks, log } = this.#options;
    const { signal } = this.#stopping;
    const name = `receive ${group}`;
    const stopped = new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('stopped')));
    while (!signal.aborted) {
      try {
        const lock = (await locks.acquire(name, { patience: 1, signal })) ?? (await this.#standBy(name, settled));
        if (lock === undefined) continue;
        try {
          const reason = await this.#receiveAlone(Promise.race([lock.lost, stopped]), settled);
          log.info('hub.receiving.ended', { reason });
        } finally {
          await lock.release();
        }
      } catch (error) {
        settled();
        if (signal.aborted) return;
        log.warn('hub.receiving.failed', { error: (error as Error).message });
        await setTimeout(RETRY, undefined, { signal }).catch(ignore);
      }
    }
  }

  async #standBy(name: string, settled: () => void): Promise<HeldLock | undefined> {
    const { locks, log } = this.#options;
    log.info('hub.standby', { reason: 'another hub receives' });
    settled();
    return locks.acquire(name, { signal: this.#stopping.signal });
  }

  async #receiveAlone(until: Promise<string>, settled: () => void): Promise<string> {
    const { group, address, log } = this.#options;
    let begun: CloudClient | undefined;
    let fresh: BrokerAbilities | undefined;
    const client = await CloudClient.connect(address.url, {
      ...this.#session(group),
      subscriptions: () => this.#receivers(''),
      ready: (broker, sessionPresent) => {
        if (sessionPresent) return;
        if (begun === undefined) fresh = broker;
        else void this.#readRetained(begun, broker);
      },
    });
    begun = client;
    try {
      await this.#claimGroup(client);
    } catch (error) {
      await client.close();
      throw error;
    }
    this.#receivingClient = client;
    log.info('hub.receiving', { broker: address.url, group });
    settled();
    if (fresh !== undefined) void this.#readRetained(client, fresh);
    const reason = await until;
    this.#receivingClient = undefined;
    await client.close();
    return reason;
  }

  /**
   * Reads the retained Status of all cars. Call if the broker had no session and therefore kept nothing for this hub.
   * Shared subscriptions receive no retained messages, so this method uses an unshared one. Brokers that do not send
   * retained messages to filters with wildcards (RabbitMQ) need one subscription for each car. Never rejects: the next
   * message of a car contains the same data.
   */
  async #readRetained(client: CloudClient, { shares }: BrokerAbilities): Promise<void> {
    const { known, log } = this.#options;
    try {
      const filters = shares
        ? [upFilter()]
        : (await known()).flatMap((vin) => RETAINED.map((kind) => upTopic(vin, kind)));
      for (const filter of filters) await (await client.subscribe(filter, ignore)).close();
    } catch (error) {
      log.warn('hub.retained.unread', { error: (error as Error).message });
    }
  }
}
