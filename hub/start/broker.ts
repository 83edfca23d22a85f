/** The broker of a hub: embedded in its process, or external. */
import { setTimeout } from 'node:timers/promises';
import { EmbeddedBroker, type EmbeddedBrokerOptions, type MqttAddress } from '../../adapters/mqtt/index.ts';
import { VigieError } from '../../protocol/errors.ts';
import { downFilter, isVin, parseTopic, retainedOf } from '../../protocol/topics.ts';
import type { PresenceReceiver } from '../broker/fleet-receiver.ts';
import type { HeldLock, HubLocks, HubLog } from '../core/ports.ts';
import type { BrokerState } from '../core/status.ts';

/** An external broker. */
export interface ExternalBroker {
  readonly address: Omit<MqttAddress, 'clientId' | 'sessionExpiry'>;
  /** Hubs of one group share the messages of all cars. */
  readonly group: string;
  /** Largest number of unacknowledged messages from the broker. */
  readonly receiveMaximum: number;
}

export interface HubBroker {
  /** Address of the broker, for display. */
  readonly url: string;
  state(): BrokerState;
  /** Passes a message to the broker. Rejects if the broker does not accept it. */
  publish(topic: string, payload: Uint8Array): Promise<void>;
  /** Clears the topics and all other topics of the car that the broker retains. Rejects if it cannot clear them. */
  clearRetained(vin: string, topics: readonly string[]): Promise<void>;
  /**
   * Calls `receive` with the presence of each car that the broker retains, and at each change. Resolves with a function
   * that ends this. Rejects as `CloudClient.connect` does.
   */
  followPresence(receive: PresenceReceiver): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

export interface HubBrokerParts {
  /** Stores the message of a car. Resolves when it is on disk; only then may it be acknowledged. */
  readonly accept: (topic: string, payload: Uint8Array, retained: boolean) => Promise<void>;
  /** Call when a car has published its presence, which the broker retains. */
  readonly presence: (vin: string) => void;
  /** Call when a car can receive its waiting messages. */
  readonly online: (vin: string) => void;
}

/** Topics of messages from cars, for any version of the protocol. */
const UP = /^vigie\/[^/]+\/[^/]+\/up\//;

/** Starts the embedded broker. Rejects as {@link EmbeddedBroker.start} does. */
export async function startEmbedded(
  options: Omit<EmbeddedBrokerOptions, 'accept' | 'subscribed'>,
  { accept, online, presence }: HubBrokerParts,
): Promise<HubBroker & Pick<EmbeddedBroker, 'endClients' | 'renew'>> {
  const present = new Map<string, string>();
  const receivers = new Set<PresenceReceiver>();
  const broker = new EmbeddedBroker({
    ...options,
    accept: async (topic, payload) => {
      const parsed = parseTopic(topic);
      if (parsed?.direction === 'presence') {
        const text = Buffer.from(payload).toString();
        if (text === '') present.delete(parsed.vin);
        else present.set(parsed.vin, text);
        for (const receive of receivers) receive(parsed.vin, text);
        if (text !== '') presence(parsed.vin);
      }
      if (UP.test(topic)) await accept(topic, payload, false);
    },
    subscribed: (filter) => {
      const vin = carOf(filter);
      if (vin !== undefined) online(vin);
    },
  });
  const { url } = await broker.start();
  return {
    url,
    state: () => ({ connected: true, receiving: true }),
    publish: (topic, payload) => broker.publish(topic, payload),
    clearRetained: (vin) => {
      present.delete(vin);
      return broker.clearRetained(retainedOf(vin).filters);
    },
    followPresence: async (receive) => {
      for (const [vin, text] of present) receive(vin, text);
      receivers.add(receive);
      return async () => {
        receivers.delete(receive);
      };
    },
    endClients: (mayStay) => broker.endClients(mayStay),
    renew: (tls) => broker.renew(tls),
    stop: () => broker.stop(),
  };
}

interface ExternalParts extends HubBrokerParts {
  readonly name: string;
  /** Unique to this hub and stable across restarts. */
  readonly identity: string;
  readonly known: () => Promise<readonly string[]>;
  readonly locks: HubLocks;
  readonly displaced: (error: VigieError) => void;
  readonly log: HubLog;
}

/** Longest wait in ms for the lock of the name. A killed hub loses its lock at once; this allows for a slow machine. */
const NAME_PATIENCE = 5_000;
/** Delay in ms before the next attempt to reach the database. */
const RETRY = 1_000;

/**
 * Connects to an external broker. Rejects with `usage.wrong` if another hub on the same database has the name, and as
 * `FleetReceiver.start` does. The client is loaded only here: a hub with the embedded broker does not need it.
 */
export async function connectExternal(broker: ExternalBroker, parts: ExternalParts): Promise<HubBroker> {
  const { FleetReceiver } = await import('../broker/fleet-receiver.ts');
  const stopping = new AbortController();
  const lock = await lockName(broker.group, parts);
  try {
    const receiver = await FleetReceiver.start({ ...broker, ...parts });
    const kept = keepName(lock, broker.group, parts, stopping.signal);
    const { url } = broker.address;
    return {
      url: typeof url === 'string' ? url : url.join(', '),
      state: () => receiver.state(),
      publish: (topic, payload) => receiver.publish(topic, payload),
      clearRetained: (vin, topics) => receiver.clearRetained(vin, topics),
      followPresence: (receive) => receiver.followPresence(receive),
      stop: async () => {
        await receiver.stop();
        stopping.abort();
        await kept;
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Locks the name of the hub. Two hubs with the same name would end each other's connection to the broker. */
async function lockName(group: string, { name, locks }: ExternalParts): Promise<HeldLock> {
  const lock = await locks.acquire(`name ${group}-${name}`, { patience: NAME_PATIENCE });
  if (lock !== undefined) return lock;
  throw new VigieError('usage.wrong', `another hub with the name ${name} uses this database: use another name`);
}

/** Locks the name again after each restart of the database, until `signal` aborts. Never rejects. */
async function keepName(first: HeldLock, group: string, parts: ExternalParts, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  let lock = first;
  for (;;) {
    await Promise.race([lock.lost, stopped]);
    await lock.release();
    const next = await lockAgain(group, parts, signal);
    if (next === undefined) return;
    lock = next;
  }
}

/** Resolves with undefined if the hub stops or another hub has the name. */
async function lockAgain(group: string, parts: ExternalParts, signal: AbortSignal): Promise<HeldLock | undefined> {
  while (!signal.aborted) {
    try {
      return await lockName(group, parts);
    } catch (error) {
      if (error instanceof VigieError && error.code === 'usage.wrong') {
        parts.displaced(error);
        return undefined;
      }
      await setTimeout(RETRY, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

/** Returns the VIN in a filter for commands to one car. */
function carOf(filter: string): string | undefined {
  const [, , vin = ''] = filter.split('/');
  return isVin(vin) && filter === downFilter(vin) ? vin : undefined;
}
