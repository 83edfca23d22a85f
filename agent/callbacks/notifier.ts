/** The port through which notifications leave the car. */
import { VigieError } from '../../protocol/errors.ts';
import type { DeliveryTarget, Destination } from './destination.ts';
import type { Notification } from './notification.ts';

/** A notification, under its id. */
export interface NotificationItem {
  readonly id: string;
  readonly notification: Notification;
}

export type Receipt =
  | { readonly outcome: 'delivered' }
  | {
      readonly outcome: 'failed';
      readonly reason: string;
      /** The first of the messages that were taken all the same. */
      readonly delivered?: number;
      /** Delay that the receiver requests before the next attempt, ms. */
      readonly after?: number;
    }
  /** The car has no connection: not a failure of the receiver, and not an attempt. */
  | { readonly outcome: 'offline'; readonly reason: string }
  /** The receiver does not exist any more and never will again. */
  | { readonly outcome: 'gone'; readonly reason: string };

/** The first items of a queue, written as one request. */
export interface RequestBatch {
  /** Number of items in it, at least one. */
  readonly count: number;
  /** Sends it. Never takes longer than its time-out. */
  send(): Promise<Receipt>;
}

/** Writes notifications as the interface has it, and sends it. */
export interface Notifier {
  /**
   * @throws VigieError `input.malformed` for a channel that the car does not have and for an address that it would
   * never connect to; `where` names the member that has the address
   */
  check(channel: DeliveryTarget['channel'], url: string, where: string): void;
  /**
   * Writes `items`, of which there is at least one, or as many of the first as can go together. Throws when it cannot.
   */
  batch(receiver: string, to: Destination, items: readonly NotificationItem[]): RequestBatch;
  /** Nothing more comes for this receiver for the time being: what is held open for it can be closed. */
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
