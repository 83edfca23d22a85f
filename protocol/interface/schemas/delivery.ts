/** Channels of a callback: webhooks, push notifications, websockets. Interface 3.19.2 and 4.17.2. */
import type { RemoteKind } from '../../remote/kind.ts';
import { type RemoteType, remoteKinds } from '../../remote/table.ts';
import type { Side } from '../operation.ts';
import { array, integer, type JsonSchema, object, string } from './json.ts';

const key = string('Name of the header, parameter or member.', { minLength: 1, maxLength: 256 });
const value = (variables: readonly string[]): JsonSchema =>
  string(`A text, or a variable: ${variables.map((name) => `\`$${name}\``).join(', ')}.`, { maxLength: 4_096 });

function attributes(title: string, places: readonly string[], variables: readonly string[]): JsonSchema {
  return array(
    object(title, 'Something that is sent along. Interface 3.19.2 Attribute.', ['type', 'key', 'value'], {
      type: string('Where it goes.', { enum: places }),
      key,
      value: value(variables),
    }),
    'Requested extensions.',
    { maxItems: 64 },
  );
}

const everywhere = ['Header', 'Body', 'Query'];
const userVariables = ['Vin', 'CallbackID', 'CallbackLabel'];

/** Attributes of monitors and remotes of the fleet side. */
const fleetAttributes = {
  monitor: attributes('MonitorWebhookAttribute', everywhere, ['vin', 'monitorID', 'fleetID', 'vid']),
  remote: attributes('RemoteWebhookAttribute', everywhere, ['vin', 'callbackID', 'remoteType', 'fleetID']),
};

/** Attributes that monitors and remotes of the user side add to those of their callback. */
export const userAttributes = {
  monitor: attributes('MonitorAttribute', ['Header', 'Body'], ['MonitorID', 'MonitorLabel']),
  remote: attributes('RemoteAttribute', ['Header', 'Body'], ['RemoteType', 'RemoteStatus', 'RemoteLabel']),
};

const webhookAttributes = attributes('Attribute', everywhere, userVariables);
const socketAttributes = attributes('WSAttribute', ['Body'], userVariables);
const pushAttributes = array(
  object('PushNotifAttribute', 'Something that is sent along. Interface 4.17.2 PushNotifAttribute.', [], {
    type: string('Where it goes.', { enum: ['Header', 'Body'], default: 'Header' }),
    key,
    value: value(userVariables),
  }),
  'Requested extensions.',
  { maxItems: 64 },
);

/** Changes by one monitor or remote of the user side to its callback. The channel is that of the callback. */
export const callbackAttributes = object(
  'CallbackAttributes',
  'Attributes by kind of callback. Interface 4.17.2 CallbackAttributes.',
  [],
  { pushnotif: pushAttributes, webhook: webhookAttributes, websocket: socketAttributes },
);

const target = (description: string): JsonSchema => string(description, { minLength: 1, maxLength: 2_048 });

function webhook(title: string, given: JsonSchema): JsonSchema {
  return object(title, 'A server that is posted to. Interface 3.19.2 Webhook.', ['target', 'name'], {
    target: target('Address that is posted to.'),
    name: string('Name for people.', { minLength: 1, maxLength: 256 }),
    attributes: given,
    secret: string('Notifications are signed with it. An addition.', { minLength: 16, maxLength: 256 }),
  });
}

/** `retryPolicy`, `batchNotify` and `callback` of the fleet side. */
export function fleetDelivery(of: 'monitor' | 'remote'): Readonly<Record<string, JsonSchema>> {
  const name = of === 'monitor' ? 'Monitor' : 'Remote';
  const policies = of === 'monitor' ? ['None', 'Bounded', 'Always'] : ['None', 'Bounded'];
  return {
    retryPolicy: object(
      `${name}RetryPolicy`,
      'Further attempts when the receiver does not accept a notification.',
      ['policy'],
      {
        policy: string('Whether to try again.', { enum: policies }),
        retryNumber: integer('Further tries.', { minimum: 1, default: 3 }),
        retryDelay: integer('Time between tries. Unit: s.', { minimum: 1, default: 10 }),
      },
    ),
    batchNotify: object('BatchNotify', 'Several events in one notification.', ['size'], {
      size: integer('Events that make a batch.', { minimum: 1 }),
      timeWindow: integer('Longest time until a batch is sent. Unit: s.', { minimum: 5, default: 60 }),
    }),
    callback: object(`${name}WebhookCallback`, 'Whom to tell.', ['webhook'], {
      webhook: webhook(`${name}Webhook`, fleetAttributes[of]),
    }),
  };
}

/** `callback` of the user side: exactly one of its fields. */
export const userCallbackTarget = object(
  'CallbackTarget',
  'Exactly one kind of receiver. Interface 4.17.2 CallbackSubscribe.callback.',
  [],
  {
    pushnotif: object('PushNotif', 'Push notifications. Interface 4.17.2 PushNotif.', ['devices'], {
      devices: array(
        string('A device: JSON of a PushSubscription (W3C Push API).', { minLength: 1, maxLength: 4_096 }),
        'Whom to tell.',
        {
          minItems: 1,
          maxItems: 100,
        },
      ),
      attributes: pushAttributes,
    }),
    webhook: webhook('Webhook', webhookAttributes),
    websocket: object('Websocket', 'A websocket. Interface 4.17.2 Websocket.', ['target'], {
      target: target('Address of the socket.'),
      attributes: socketAttributes,
    }),
  },
);

/** Returns the kinds of command of a side: only the fleet side has those without a scope. */
export function remoteKindsOf(side: Side): readonly RemoteKind<RemoteType>[] {
  return side === 'fleet' ? remoteKinds : remoteKinds.filter(({ scope }) => scope !== undefined);
}

/** Interface 3.19.2 and 4.17.2 RemoteType. */
export function remoteTypesOf(side: Side): readonly RemoteType[] {
  return remoteKindsOf(side).map(({ type }) => type);
}
