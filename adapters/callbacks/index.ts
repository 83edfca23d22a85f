/** The channels of notifications: webhook, websocket, push. */

import { X509Certificate } from 'node:crypto';
import type { Receipt } from '../../agent/callbacks/notifier.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { Addresses, type AddressRules } from './addresses.ts';
import type { NotificationChannel, NotificationChannels } from './channel.ts';
import { checkPair, type VapidKeys } from './vapid.ts';

export type { VapidKeys } from './vapid.ts';

interface ChannelOptions extends AddressRules {
  /** Returns certificate authorities (PEM) for receivers, or throws if they cannot be read. If omitted, Node's. */
  readonly ca?: () => string;
  /** Returns the keys, or throws if they cannot be read. If omitted, there are no push notifications. */
  readonly vapid?: () => VapidKeys;
  /** Public key of {@link vapid}. */
  readonly pushKey?: string;
  /** Returns the time in UTC ms, for signatures. */
  readonly now: () => number;
}

export interface CallbackChannels extends NotificationChannels {
  /** Public key with which browsers subscribe (RFC 8292 §4.1). If omitted, there are no push notifications. */
  readonly pushKey?: string;
  /**
   * Throws if a channel would be unable to send: errors of the option functions, and `configuration.wrong` if the
   * authorities are not certificates or the keys are not a pair.
   */
  inspect(): void;
  /** Call when the unit goes to sleep: closes connections that must be kept alive by messages. */
  rest(): void;
  /** Cancels open requests and closes all connections. */
  close(): Promise<void>;
}

/**
 * Creates all channels. Loads their libraries, and reads authorities and keys, only when the first notification is
 * sent, so that a car without callbacks uses no memory for them. While authorities or keys are unusable, the channels
 * that need them cannot send: notifications wait, and each attempt reads the files again.
 * @throws RangeError for an invalid network
 */
export function callbackChannels({ networks, allowHttp, ca, vapid, pushKey, now }: ChannelOptions): CallbackChannels {
  const addresses = new Addresses({ ...(networks && { networks }), ...defined({ allowHttp }) });
  const authorities = (of: () => string): string => {
    const text = of();
    checkAuthorities(text);
    return text;
  };
  const options = () => ({ addresses, now, ...(ca === undefined ? {} : { ca: authorities(ca) }) });
  const pair = (of: () => VapidKeys): VapidKeys => {
    const keys = of();
    checkPair(keys);
    return keys;
  };
  const webhook = whenNeeded(addresses, async () => {
    const read = options();
    return new (await import('./webhook.ts')).WebhookChannel(read);
  });
  const websocket = whenNeeded(addresses, async () => {
    const read = options();
    return new (await import('./websocket.ts')).WebsocketChannel(read);
  });
  const pushnotif =
    vapid === undefined
      ? undefined
      : whenNeeded(addresses, async () => {
          const read = { ...options(), vapid: pair(vapid) };
          return new (await import('./push.ts')).PushChannel(read);
        });
  return {
    webhook,
    websocket,
    ...defined({ pushnotif, pushKey }),
    inspect() {
      if (ca !== undefined) authorities(ca);
      if (vapid !== undefined) pair(vapid);
    },
    rest: () => websocket.rest(),
    async close() {
      await Promise.all([webhook.close(), websocket.close(), pushnotif?.close()]);
    },
  };
}

/** Checks the authorities: Node ignores a string that is not a certificate, and would then reject every receiver. */
function checkAuthorities(text: string): void {
  try {
    // X509Certificate reads only the first of several certificates.
    new X509Certificate(text);
  } catch (cause) {
    throw new VigieError('configuration.wrong', 'the authorities are not certificates in PEM', {
      where: 'callbacks.ca',
      cause,
    });
  }
}

type Closable<P> = NotificationChannel<P> & { rest?(): void; close(): Promise<void> };

function whenNeeded<P>(addresses: Addresses, make: () => Promise<Closable<P>>) {
  let made: Promise<Closable<P>> | undefined;
  let ready: Closable<P> | undefined;
  return {
    async deliver(request: P): Promise<Receipt> {
      made ??= make();
      const making = made;
      try {
        ready = await making;
      } catch (error) {
        if (made === making) made = undefined;
        return { outcome: 'offline', reason: (error as Error).message };
      }
      return ready.deliver(request);
    },
    check: (url: string, where: string) => addresses.check(url, where),
    release: (receiver: string) => ready?.release?.(receiver),
    rest: () => ready?.rest?.(),
    async close() {
      // If the channel could not be created, it has no open connection.
      const open = await made?.catch(() => undefined);
      await open?.close();
    },
  } satisfies Closable<P>;
}
