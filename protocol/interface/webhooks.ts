/** Notifications to webhooks as the `webhooks` of the OpenAPI document: one entry per kind. */

import type { Side } from './operation.ts';
import { JSON_MEDIA } from './operations/making.ts';
import type { Components } from './schemas/components.ts';
import { type NotificationKind, notificationKinds, notificationSchemas } from './schemas/notifications.ts';

interface Entry {
  readonly side: Side;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
}

const MESSAGES = 'One message is an object; several for one callback are an array, of monitors and of commands alike.';

const entries: Readonly<Record<NotificationKind, Entry>> = {
  fleetMonitor: {
    side: 'fleet',
    tag: 'Monitors',
    summary: 'Receives the events of a monitor of a fleet.',
    description:
      'The car posts it to the webhook of the monitor when its expression becomes true, and again every `refreshEvent` ' +
      'seconds while it stays true. `batchNotify` puts several events into one request.',
  },
  fleetRemote: {
    side: 'fleet',
    tag: 'Remotes',
    summary: 'Receives the states of the commands of a fleet.',
    description:
      'The car posts it to the webhook of the callback each time a command under that callback reaches another state. ' +
      '`batchNotify` puts several events into one request.',
  },
  userMonitor: {
    side: 'user',
    tag: 'Monitors',
    summary: 'Receives the events of the monitors of a user.',
    description:
      'The car posts it to the webhook of the callback when the expression of a monitor under that callback becomes true. ' +
      `${MESSAGES} A websocket receives the same message in a frame, and a push device encrypted.`,
  },
  userRemote: {
    side: 'user',
    tag: 'Remotes',
    summary: 'Receives the states of the commands of a user.',
    description:
      'The car posts it to the webhook of the callback each time a command under that callback reaches another state. ' +
      `${MESSAGES} A websocket receives the same message in a frame, and a push device encrypted.`,
  },
};

const parameters = [
  {
    name: 'Vigie-Event-Id',
    in: 'header',
    required: true,
    description: 'Ids of the events in the body, in their order, separated by commas. A repeated request repeats them.',
    schema: { type: 'string' },
  },
  {
    name: 'Vigie-Signature',
    in: 'header',
    required: false,
    description:
      '`t=SECONDS,v1=HMAC`, when the webhook has a secret: HMAC-SHA256 (RFC 2104, hexadecimal) of SECONDS, a full stop ' +
      'and the body.',
    schema: { type: 'string', pattern: '^t=\\d+,v1=[0-9a-f]{64}$' },
  },
];

const responses = {
  '2XX': { description: 'The receiver has the notification.' },
  default: {
    description:
      'The receiver did not accept it: the car tries again with `retryPolicy`. It also does so after 10 s without an answer.',
  },
};

/** Adds the schemas of all notifications; call before {@link webhooks}. */
export function addNotifications(components: Components): void {
  for (const kind of notificationKinds) components.add(notificationSchemas[kind](), entries[kind].side);
}

/** Returns the webhooks by name of the notification. */
export function webhooks(components: Components): Readonly<Record<string, object>> {
  const schemas = Object.fromEntries(
    notificationKinds.map((kind) => [kind, components.use(notificationSchemas[kind](), entries[kind].side)]),
  );
  const messages = { type: 'array', minItems: 2, items: { oneOf: [schemas['userMonitor'], schemas['userRemote']] } };
  return Object.fromEntries(
    notificationKinds.map((kind) => {
      const { side, tag, summary, description } = entries[kind];
      const schema = side === 'fleet' ? schemas[kind] : { oneOf: [schemas[kind], messages] };
      const requestBody = { required: true, content: { [JSON_MEDIA]: { schema } } };
      const operationId = `${kind}Notification`;
      const post = { operationId, tags: [tag], summary, description, security: [], parameters, requestBody, responses };
      return [kind, { post }];
    }),
  );
}
