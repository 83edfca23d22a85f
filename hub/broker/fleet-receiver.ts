/** A hub at a broker of its own: receives the messages of all cars, shared with other hubs, and publishes to cars. */
import { setTimeout } from 'node:timers/promises';
import {
  type BrokerAbilities,
  CloudClient,
  type CloudClientOptions,
  type Subscriber,
} from '../../adapters/mqtt/cloud-client.ts';
import type { MqttAddress } from '../../adapters/mqtt/link.ts';
import { VigieError } from '../../protocol/errors.ts';
import { parseTopic, presenceFilter, retainedOf, upFilter, upTopic } from '../../protocol/topics.ts';
import type { HeldLock, HubLocks, HubLog } from '../core/ports.ts';

export interface FleetReceiverOptions {
  readonly address: Omit<MqttAddress, 'clientId' | 'sessionExpiry'>;
  /** Hubs of one group share the messages of all cars. */
  readonly group: string;
  /** Name of this hub in the group. The broker keeps its session under group and name. */
  readonly name: string;
  /** The same whenever this hub starts, and of no other: a claim that it made itself may reach it late. */
  readonly identity: string;
  /** Messages that the broker sends before they are acknowledged (MQTT 5). */
  readonly receiveMaximum: number;
  /** Resolves when the message of a car is on disk: it is acknowledged then. */
  readonly accept: (topic: string, payload: Uint8Array, retained: boolean) => Promise<void>;
  /** A car has published its presence, which the broker retains. */
  readonly presence: (vin: string) => void;
  /** A car has connected. */
  readonly online: (vin: string) => void;
  /** VINs of the cars that are known. */
  readonly known: () => Promise<readonly string[]>;
  /** On a broker without shared subscriptions the hub that holds the lock receives. */
  readonly locks: HubLocks;
  /** Another hub connected under the same name, or the broker refused this one: it receives nothing any more. */
  readonly displaced: (error: VigieError) => void;
  readonly log: HubLog;
}

/** Seconds that the broker keeps messages for a hub that does not come back. */
const SESSION = 7 * 86_400;
/** Seconds after which the broker drops a command that no car took; the car would refuse it. */
const EXPIRY = 120;
/** A broker or database that is not there is looked for again after that, ms. */
const RETRY = 1_000;

/** Retained messages of a car, by kind. */
const RETAINED = ['status', 'hello', 'monitor'] as const;

/** The first clears what was found by the second. */
const CLEARING_ROUNDS = 3;
const MAY_WRITE = 'let the hub write to vigie/1/+/up/+, vigie/1/+/presence and vigie/1/+/down/+';

const ignore = (): void => undefined;
const inUse = (reason: string): VigieError => new VigieError('usage.wrong', reason);

export class FleetReceiver {
  readonly #options: FleetReceiverOptions;
  readonly #stopping = new AbortController();
  #client: CloudClient | undefined;
  #claimed = false;
  /** Resolves with the first message. */
  readonly #receiving: Promise<void>;
  #received: () => void = ignore;
  #turns: Promise<void> = Promise.resolve();
  /** Cars whose retained messages are read only to clear them. */
  readonly #clearing = new Set<string>();

  private constructor(options: FleetReceiverOptions) {
    this.#options = options;
    this.#receiving = new Promise((resolve) => {
      this.#received = resolve;
    });
  }

  /**
   * Connects. Rejects with `link.refused` where the broker cannot be reached or does not permit it, with
   * `configuration.wrong` for an address or certificates that cannot be used.
   */
  static async start(options: FleetReceiverOptions): Promise<FleetReceiver> {
    const receiver = new FleetReceiver(options);
    await receiver.#connect();
    return receiver;
  }

  /** Rejects with `link.lost` without a connection: the broker has not got it. */
  async publish(topic: string, payload: Uint8Array): Promise<void> {
    if (this.#client === undefined) throw new VigieError('link.lost', 'the hub is not connected', { where: topic });
    await this.#client.publish(topic, payload, { expiry: EXPIRY });
  }

  /**
   * Clears the `topics`, and every topic of the car that the broker retains. Resolves when the broker retains none; one that
   * has retained messages for no filter with wildcards is believed when it has acknowledged. Rejects with `link.lost`
   * without a connection, with `link.refused` where the broker does not let the hub clear them.
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

  /** Topics that match and have a retained message. */
  async #retainedAt(client: CloudClient, filters: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const filter of filters) {
      try {
        const subscription = await client.subscribe(filter, (topic, payload, { retained }) => {
          if (retained && payload.byteLength > 0) found.add(topic);
        });
        await subscription.close();
      } catch (error) {
        // Rules of brokers may not let hubs read the messages to cars.
        if (!(error instanceof VigieError) || error.code !== 'link.refused') throw error;
      }
    }
    return found;
  }

  /** Disconnects when what has come is on disk; the broker keeps what comes later for the next start. */
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
      // A hub serves while a backlog comes; brokers may send the acknowledgement behind it.
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
    } else if (fresh) void this.#readRetained(client, abilities);
  }

  async #claimName(client: CloudClient, claim: string): Promise<void> {
    await client.publish(claim, Buffer.from(this.#options.identity), { retain: true });
    this.#claimed = true;
  }

  /** After a lost connection the next one claims again. */
  #unclaimed(error: unknown): void {
    if (error instanceof VigieError && error.code === 'link.refused') this.#displace(error);
  }

  #session(clientId: string): CloudClientOptions {
    const { address, receiveMaximum, log } = this.#options;
    const { url: _, ...rest } = address;
    return { ...rest, clientId, sessionExpiry: SESSION, keepsSession: true, receiveMaximum, log };
  }

  /** `share` goes before each filter. */
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

  /** The last hub that started under the name has it; the one before receives its claim when it connects again. */
  #claimedBy(payload: Uint8Array): void {
    if (!this.#claimed || Buffer.from(payload).toString() === this.#options.identity) return;
    const { name } = this.#options;
    this.#displace(inUse(`another hub with the name ${name} has connected to the broker: use another name`));
  }

  /**
   * Hubs on one database take turns by its lock. Those on different databases would end each other's connection for ever,
   * and each would have some of the messages. The last that started receives; the one before gets its claim when it
   * connects again.
   */
  async #claimGroup(client: CloudClient): Promise<void> {
    const { group, identity, locks } = this.#options;
    const own = (await locks.place()) ?? identity;
    const claim = `vigie/hub/${group}`;
    await client.publish(claim, Buffer.from(own), { retain: true });
    // Only now, or it would get the claim of a hub that received before it.
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
   * One hub of the group receives, in the session of the group; the others wait for the lock. `settled` is called when it is
   * known whether this one receives. Never rejects.
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
    log.info('hub.receiving', { broker: address.url, group });
    settled();
    if (fresh !== undefined) void this.#readRetained(client, fresh);
    const reason = await until;
    await client.close();
    return reason;
  }

  /**
   * The broker had no session, so it kept nothing for this hub: takes the retained Status of all cars. Those of shared
   * subscriptions come with a subscription that is not shared, and those of brokers that keep them from filters with
   * wildcards (RabbitMQ) with one for each car. Never rejects: the next message of a car says the same.
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
