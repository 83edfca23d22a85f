/** Callbacks: receivers of events (docs/callbacks.md). */
import { callbackIdPattern } from './callback/delivery.ts';
import { readFleetSubscribe, readUserSubscribe } from './callback/read.ts';
import { type CallbackSubscribe, subscribeSchema } from './callback/subscribe.ts';
import { enumeration, instant, record, required, type Static, text } from './fields.ts';

export { type MonitorDelivery, readDelivery, shownDelivery } from './callback/delivery.ts';
export { type CallbackSubscribe, type CallbackType, subscribeSchema } from './callback/subscribe.ts';

/** Callbacks that a car serves at most, both sides together. */
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

/** Which line of the interface a callback belongs to: decides how notifications look and how often they are tried. */
export const callbackSides = ['fleet', 'user'] as const;
export type CallbackSide = (typeof callbackSides)[number];

export const callbackSide = enumeration('Line of the interface.', callbackSides);

/** A callback as it is kept and as a command brings it. */
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
 * Checks what somebody asks for, in JSON's types, and gives it in the one form that is kept; reading that gives the
 * same again.
 * @throws VigieError `input.malformed`, `input.unknown`, whose `where` is the member at fault
 */
export function readSubscribe(side: CallbackSide, input: unknown): CallbackSubscribe {
  return side === 'fleet' ? readFleetSubscribe(input) : readUserSubscribe(input);
}

/** Settings of a callback as shown to readers, without secrets. */
export function shownSubscribe(subscribe: CallbackSubscribe): CallbackSubscribe {
  const { webhook } = subscribe.callback;
  if (webhook?.secret === undefined) return subscribe;
  const { secret: _, ...rest } = webhook;
  return { ...subscribe, callback: { webhook: rest } };
}
