/** How notifications leave the car: webhook, websocket, push. */
import type { Courier, Couriers } from '../../agent/callbacks/courier.ts';
import { Addresses, type AddressRules } from './addresses.ts';
import { checkPair, type VapidKeys } from './vapid.ts';

export type { AddressRules } from './addresses.ts';
export type { VapidKeys } from './vapid.ts';

export interface CourierOptions extends AddressRules {
  /** Authorities (PEM) that receivers are checked against; absent: those of Node. */
  readonly ca?: string;
  /** Absent: no push notifications. */
  readonly vapid?: VapidKeys;
  /** UTC ms, for signatures. */
  readonly now: () => number;
}

export interface CallbackCouriers extends Couriers {
  /** The unit goes to sleep: connections that would have to be kept alive are closed. */
  rest(): void;
  /** Ends what is under way and closes all connections. */
  close(): Promise<void>;
}

/**
 * The couriers of all channels. Their libraries are loaded when the first notification is sent: a car that nobody asks
 * for events does without their memory.
 * @throws RangeError for a network that is none, VigieError `configuration.wrong` for VAPID keys that are no pair
 */
export function callbackCouriers({ networks, plain, ca, vapid, now }: CourierOptions): CallbackCouriers {
  if (vapid !== undefined) checkPair(vapid);
  const addresses = new Addresses({ ...(networks && { networks }), ...(plain === undefined ? {} : { plain }) });
  const options = { addresses, now, ...(ca === undefined ? {} : { ca }) };
  const webhook = whenNeeded(addresses, async () => new (await import('./webhook.ts')).WebhookCourier(options));
  const websocket = whenNeeded(addresses, async () => new (await import('./websocket.ts')).WebsocketCourier(options));
  const pushnotif =
    vapid === undefined
      ? undefined
      : whenNeeded(addresses, async () => new (await import('./push.ts')).PushCourier({ ...options, vapid }));
  return {
    webhook,
    websocket,
    ...(pushnotif === undefined ? {} : { pushnotif }),
    rest: () => websocket.rest(),
    async close() {
      await Promise.all([webhook.close(), websocket.close(), pushnotif?.close()]);
    },
  };
}

type Closable<P> = Courier<P> & { rest?(): void; close(): Promise<void> };

function whenNeeded<P>(addresses: Addresses, make: () => Promise<Closable<P>>) {
  let made: Promise<Closable<P>> | undefined;
  let ready: Closable<P> | undefined;
  return {
    async deliver(parcel: P) {
      made ??= make();
      ready = await made;
      return ready.deliver(parcel);
    },
    check: (url: string, where: string) => addresses.check(url, where),
    release: (receiver: string) => ready?.release?.(receiver),
    rest: () => ready?.rest?.(),
    async close() {
      await (await made)?.close();
    },
  } satisfies Closable<P>;
}
