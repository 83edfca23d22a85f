/** A receiver with the rules of its side: address, content, batch size and rate. */
import { defined } from '../../protocol/defined.ts';
import { type Attribute, variableOf } from '../../protocol/schema/callback/attributes.ts';
import { type Device, readDevice } from '../../protocol/schema/callback/device.ts';
import type { RetryPolicy } from '../../protocol/schema/callback/policy.ts';
import type { Callback, CallbackSide, MonitorDelivery } from '../../protocol/schema/callback.ts';
import { Member } from '../../protocol/schema/monitor/input.ts';

/** The user side retries every 10 s and sends up to 100 messages together. Interface 4.16.0, rules of delivery. */
const USER_DELAY = 10_000;
const USER_BATCH = 100;

export type DeliveryTarget =
  | { readonly channel: 'webhook'; readonly target: string; readonly secret?: string }
  | { readonly channel: 'websocket'; readonly target: string }
  | { readonly channel: 'pushnotif'; readonly device: Device };

/** The receiver of an event. */
export interface Addressee {
  readonly callbackId?: string;
  readonly label?: string;
}

export interface Destination {
  readonly side: CallbackSide;
  readonly place: DeliveryTarget;
  readonly addressee: Addressee;
  /** Attributes of the callback; the notification contains those of the monitor or command. */
  readonly attributes: readonly Attribute[];
  /** Largest number of events in one request. */
  readonly batch: number;
  /** Time in ms for which the first event waits for a full batch. */
  readonly window: number;
  /** Largest number of attempts at one request. */
  readonly tries: number;
  /** Delay in ms between two attempts. */
  readonly delay: number;
}

/** Returns the webhook of a fleet-side monitor, or undefined if it has none. */
export function monitorDestination(delivery: MonitorDelivery): Destination | undefined {
  const { webhook, retryPolicy, batchNotify } = delivery;
  if (webhook === undefined) return undefined;
  return fleetDestination(webhook, retryPolicy, batchNotify, {});
}

/** Returns the destinations of a callback by device endpoint, or a single destination with an empty key. */
export function callbackDestinations(callback: Callback): ReadonlyMap<string, Destination> {
  const { side, subscribe, callbackId } = callback;
  const { label } = subscribe;
  const { webhook, websocket, pushnotif } = subscribe.callback;
  const addressee: Addressee = { callbackId, ...defined({ label }) };
  if (side === 'fleet' && webhook !== undefined) {
    return new Map([['', fleetDestination(webhook, subscribe.retryPolicy, subscribe.batchNotify, addressee)]]);
  }
  const user = (place: DeliveryTarget, attributes: readonly Attribute[] = [], batch = USER_BATCH): Destination => ({
    side: 'user',
    place,
    addressee,
    attributes,
    batch: forbidsBatching(attributes) ? 1 : batch,
    window: 0,
    tries: Number.POSITIVE_INFINITY,
    delay: USER_DELAY,
  });
  if (webhook !== undefined) return new Map([['', user(webhookPlace(webhook), webhook.attributes)]]);
  if (websocket !== undefined) {
    return new Map([['', user({ channel: 'websocket', target: websocket.target }, websocket.attributes)]]);
  }
  const { devices = [], attributes } = pushnotif ?? {};
  return new Map(
    devices.map((text) => {
      const device = readDevice(new Member(text, 'devices'));
      return [device.endpoint, user({ channel: 'pushnotif', device }, attributes, 1)];
    }),
  );
}

/** Returns true if batching is forbidden: the interface does not batch if the query contains the car's VIN. */
export function forbidsBatching(attributes: readonly Attribute[]): boolean {
  return attributes.some(({ type, value }) => type === 'Query' && variableOf(value) === 'vin');
}

type Webhook = NonNullable<MonitorDelivery['webhook']>;

function webhookPlace({ target, secret }: Webhook): DeliveryTarget {
  return { channel: 'webhook', target, ...defined({ secret }) };
}

function fleetDestination(
  webhook: Webhook,
  retry: RetryPolicy | undefined,
  batch: MonitorDelivery['batchNotify'] | { readonly size: number; readonly timeWindow?: number },
  addressee: Addressee,
): Destination {
  const attributes = webhook.attributes ?? [];
  const together = batch !== undefined && !forbidsBatching(attributes);
  const { policy = 'None', retryNumber = 0, retryDelay = 0 } = retry ?? {};
  return {
    side: 'fleet',
    place: webhookPlace(webhook),
    addressee,
    attributes,
    batch: together ? batch.size : 1,
    window: together ? (batch.timeWindow ?? 0) * 1000 : 0,
    tries: policy === 'None' ? 1 : policy === 'Bounded' ? 1 + retryNumber : Number.POSITIVE_INFINITY,
    delay: retryDelay * 1000,
  };
}

/** Returns true if a callback subscribes to events of monitors, or to the states of commands of a type. */
export function isSubscribed({ side, subscribe }: Callback, kind: 'Monitor' | 'Remote', type?: string): boolean {
  if (side === 'user') return subscribe.type?.includes(kind) ?? true;
  // Monitors of the fleet side have their own webhooks.
  const types: readonly string[] | undefined = subscribe.remoteTypes;
  return kind === 'Remote' && type !== undefined && (types?.includes(type) ?? true);
}
