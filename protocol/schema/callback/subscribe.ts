/**
 * What a callback asks for, in the one form in which it travels and is kept: CallbackSubscribe of the user line
 * (4.17.2) and RemoteCallbackSubscribe of the fleet line (3.19.2). Checked by read.ts, whose rules say more than a
 * schema can.
 */

import { remoteTypes } from '../../remote/table.ts';
import { enumeration, list, optional, record, required, type Static, text } from '../fields.ts';
import { attributesSchema } from './attributes.ts';
import { batchNotifySchema, retryPolicySchema } from './policy.ts';

/** Interface 4.17.2 SubscribeType. */
export const callbackTypes = ['Monitor', 'Remote'] as const;
export type CallbackType = (typeof callbackTypes)[number];

const target = text({ maxLength: 2048, description: 'Where to. Interface 3.19.2 Webhook.target.' });

export const webhookSchema = record(
  'Webhook',
  {
    target: required(1, target),
    name: required(2, text({ description: 'For people. Interface 3.19.2 Webhook.name.' })),
    attributes: optional(3, attributesSchema),
    secret: optional(
      4,
      text({ maxLength: 256, description: 'Notifications are signed with it (docs/callbacks.md). An addition.' }),
    ),
  },
  { description: 'Notifications are posted to an address. Interface 3.19.2 Webhook.' },
);
export type Webhook = Static<typeof webhookSchema>;

export const websocketSchema = record(
  'Websocket',
  { target: required(1, target), attributes: optional(2, attributesSchema) },
  { description: 'Notifications go over a connection that stays open. Interface 4.17.2 Websocket.' },
);
export type Websocket = Static<typeof websocketSchema>;

export const pushSchema = record(
  'PushNotif',
  {
    devices: required(
      1,
      list(text({ maxLength: 4096, description: 'JSON of a PushSubscription.' }), {
        maxItems: 100,
        description: 'Devices. Interface 4.17.2 PushNotif.devices.',
      }),
    ),
    attributes: optional(2, attributesSchema),
  },
  { description: 'Notifications are shown on devices. Interface 4.17.2 PushNotif.' },
);
export type Push = Static<typeof pushSchema>;

export const subscribeSchema = record(
  'CallbackSubscribe',
  {
    label: optional(1, text({ description: 'For people. Interface 4.17.2 CallbackSubscribe.label.' })),
    type: optional(
      2,
      list(enumeration(callbackTypes, { description: 'A kind of event.' }), {
        maxItems: 2,
        description: 'Kinds of event that it receives; absent: both. Interface 4.17.2 CallbackSubscribe.type.',
      }),
    ),
    callback: required(
      3,
      record(
        'CallbackChannel',
        {
          pushnotif: optional(1, pushSchema),
          webhook: optional(2, webhookSchema),
          websocket: optional(3, websocketSchema),
        },
        { description: 'Exactly one of its members. Interface 4.17.2 CallbackSubscribe.callback.' },
      ),
    ),
    retryPolicy: optional(4, retryPolicySchema),
    batchNotify: optional(5, batchNotifySchema),
    remoteTypes: optional(
      6,
      list(enumeration(remoteTypes, { description: 'A kind of command.' }), {
        maxItems: remoteTypes.length,
        description:
          'Kinds of commands whose states the callback receives. Interface 3.19.2 RemoteCallbackSubscribe.remoteTypes.',
      }),
    ),
  },
  {
    description:
      'Receiver and events of a callback. Interface 4.17.2 CallbackSubscribe, 3.19.2 RemoteCallbackSubscribe.',
  },
);
export type CallbackSubscribe = Static<typeof subscribeSchema>;
