/** Callbacks: receivers of events (docs/callbacks.md). */
import { callbackIdPattern } from './callback/delivery.ts';
import { readFleetSubscribe, readUserSubscribe } from './callback/read.ts';
import { type CallbackSubscribe, subscribeSchema } from './callback/subscribe.ts';
import { enumeration, instant, record, required, type Static, text } from './fields.ts';

export { type MonitorDelivery, readDelivery, shownDelivery } from './callback/delivery.ts';
export { type CallbackSubscribe, type CallbackType, subscribeSchema } from './callback/subscribe.ts';

/** Maximum number of callbacks of a car, both sides together. */
export const CALLBACKS = 200;

export const callbackId = text('Names the callback. Interface 4.17.2 CallbackId.', {
  maxLength: 64,
  pattern: callbackIdPattern,
});

/** Interface 4.17.2 CallbacksStatusSetter: statuses that a client may set; it lists `Failed`, which is never set. */
export const callbackStatuses = ['Running', 'Paused'] as const;
export type CallbackStatus = (typeof callbackStatuses)[number];

export const callbackStatus = enumeration(
  'Whether notifications are sent. Interface 4.17.2 CallbackStatus.',
  callbackStatuses,
);

/** The line of the interface to which a callback belongs: determines the format of notifications and the retries. */
export const callbackSides = ['fleet', 'user'] as const;
export type CallbackSide = (typeof callbackSides)[number];

export const callbackSide = enumeration('Line of the interface.', callbackSides);

/** A callback as it is stored, and as commands contain it. */
export const callbackSchema = record(
  'Callback',
  'A receiver of events. Interface 4.17.2 UserCallback, 3.19.2 RemoteCallback.',
  {
    createdAt: required(0, instant('When it was given.')),
    callbackId: required(1, callbackId),
    updatedAt: required(2, instant('When it was last changed.')),
    status: required(3, callbackStatus),
    side: required(4, callbackSide),
    subscribe: required(5, subscribeSchema),
  },
);
export type Callback = Static<typeof callbackSchema>;

/**
 * Checks the settings in a request, as JSON types, and returns them in the stored form. For the
 * stored form it returns the same.
 * @throws VigieError `input.malformed`, `input.unknown`, with the faulty member in `where`
 */
export function readSubscribe(side: CallbackSide, input: unknown): CallbackSubscribe {
  return side === 'fleet' ? readFleetSubscribe(input) : readUserSubscribe(input);
}

/** Returns the settings of a callback for clients, without secrets. */
export function shownSubscribe(subscribe: CallbackSubscribe): CallbackSubscribe {
  const { webhook } = subscribe.callback;
  if (webhook?.secret === undefined) return subscribe;
  const { secret: _, ...rest } = webhook;
  return { ...subscribe, callback: { webhook: rest } };
}
