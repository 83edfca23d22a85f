/** Port for sending notifications. */
import { VigieError } from '../../protocol/errors.ts';
import type { DeliveryTarget, Destination } from './destination.ts';
import type { Notification } from './notification.ts';

/** A notification with its id. */
export interface NotificationItem {
  readonly id: string;
  readonly notification: Notification;
}

export type Receipt =
  | { readonly outcome: 'delivered' }
  | {
      readonly outcome: 'failed';
      readonly reason: string;
      /** Number of messages, from the first on, that the receiver accepted despite the failure. */
      readonly delivered?: number;
      /** Delay in ms before the next attempt, as requested by the receiver. */
      readonly after?: number;
    }
  /** The car has no connection: not a failure of the receiver, and not an attempt. */
  | { readonly outcome: 'offline'; readonly reason: string }
  /** The receiver no longer exists, permanently. */
  | { readonly outcome: 'gone'; readonly reason: string };

/** The first items of a queue, encoded as one request. */
export interface RequestBatch {
  /** Number of items in it, at least one. */
  readonly count: number;
  /** Sends the request. Never takes longer than its time-out. */
  send(): Promise<Receipt>;
}

/** Encodes notifications in the format of the interface, and sends them. */
export interface Notifier {
  /**
   * @throws VigieError `input.malformed` if the car does not have the channel or would never connect to the address;
   * `where` is the field that contains the address
   */
  check(channel: DeliveryTarget['channel'], url: string, where: string): void;
  /**
   * Encodes `items` (at least one), or as many from the first on as fit in a request. Throws if one cannot be encoded.
   */
  batch(receiver: string, to: Destination, items: readonly NotificationItem[]): RequestBatch;
  /** Closes open connections of this receiver, which gets no requests for the time being. */
  release(receiver: string): void;
}

export function channelMissing(channel: DeliveryTarget['channel'], where: string): VigieError {
  return new VigieError(
    'input.malformed',
    `this car does not send by ${channel}: see \`callbacks\` of its configuration`,
    { where },
  );
}

/** For a car that sends no notifications. */
export const noNotifier: Notifier = {
  check: (channel, _url, where) => {
    throw channelMissing(channel, where);
  },
  batch: (_receiver, { place }) => ({
    count: 1,
    send: async () => ({ outcome: 'failed', reason: `this agent has no way to send by ${place.channel}` }),
  }),
  release: () => undefined,
};
