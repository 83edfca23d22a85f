/**
 * Settings of a callback, in the same form for wire and disk: CallbackSubscribe of the user line
 * (4.17.2) and RemoteCallbackSubscribe of the fleet line (3.19.2). read.ts checks them with more rules than a
 * schema can express.
 */

import { remoteTypes } from '../../remote/table.ts';
import { enumeration, list, optional, record, required, type Static, text } from '../fields.ts';
import { attributesSchema } from './attributes.ts';
import { batchNotifySchema, retryPolicySchema } from './policy.ts';

/** Interface 4.17.2 SubscribeType. */
export const callbackTypes = ['Monitor', 'Remote'] as const;
export type CallbackType = (typeof callbackTypes)[number];

const target = text('Where to. Interface 3.19.2 Webhook.target.', { maxLength: 2048 });

export const webhookSchema = record('Webhook', 'Notifications are posted to an address. Interface 3.19.2 Webhook.', {
  target: required(1, target),
  name: required(2, text('For people. Interface 3.19.2 Webhook.name.')),
  attributes: optional(3, attributesSchema),
  secret: optional(4, text('Notifications are signed with it (docs/callbacks.md). An addition.', { maxLength: 256 })),
});
export type Webhook = Static<typeof webhookSchema>;

export const websocketSchema = record(
  'Websocket',
  'Notifications go over a connection that stays open. Interface 4.17.2 Websocket.',
  { target: required(1, target), attributes: optional(2, attributesSchema) },
);
export type Websocket = Static<typeof websocketSchema>;

export const pushSchema = record('PushNotif', 'Notifications are shown on devices. Interface 4.17.2 PushNotif.', {
  devices: required(
    1,
    list('Devices. Interface 4.17.2 PushNotif.devices.', text('JSON of a PushSubscription.', { maxLength: 4096 }), {
      maxItems: 100,
    }),
  ),
  attributes: optional(2, attributesSchema),
});
export type Push = Static<typeof pushSchema>;

export const subscribeSchema = record(
  'CallbackSubscribe',
  'Receiver and events of a callback. Interface 4.17.2 CallbackSubscribe, 3.19.2 RemoteCallbackSubscribe.',
  {
    label: optional(1, text('For people. Interface 4.17.2 CallbackSubscribe.label.')),
    type: optional(
      2,
      list(
        'Kinds of event that it receives; absent: both. Interface 4.17.2 CallbackSubscribe.type.',
        enumeration('A kind of event.', callbackTypes),
        { maxItems: 2 },
      ),
    ),
    callback: required(
      3,
      record('CallbackChannel', 'Exactly one of its members. Interface 4.17.2 CallbackSubscribe.callback.', {
        pushnotif: optional(1, pushSchema),
        webhook: optional(2, webhookSchema),
        websocket: optional(3, websocketSchema),
      }),
    ),
    retryPolicy: optional(4, retryPolicySchema),
    batchNotify: optional(5, batchNotifySchema),
    remoteTypes: optional(
      6,
      list(
        'Kinds of commands whose states the callback receives. Interface 3.19.2 RemoteCallbackSubscribe.remoteTypes.',
        enumeration('A kind of command.', remoteTypes),
        { maxItems: remoteTypes.length },
      ),
    ),
  },
);
export type CallbackSubscribe = Static<typeof subscribeSchema>;
