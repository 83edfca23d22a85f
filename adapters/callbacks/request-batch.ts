/** Converts queued notifications to requests: each combines as many as possible, from the start of the queue. */

import { type Destination, forbidsBatching } from '../../agent/callbacks/destination.ts';
import type { Notification } from '../../agent/callbacks/notification.ts';
import {
  channelMissing,
  type NotificationItem,
  type Notifier,
  type RequestBatch,
} from '../../agent/callbacks/notifier.ts';
import { defined } from '../../protocol/defined.ts';
import type { Attribute } from '../../protocol/schema/callback/attributes.ts';
import { envelopeOf, type NotificationEnvelope } from './attributes.ts';
import type { NotificationChannels, PushRequest, WebhookRequest, WebsocketRequest } from './channel.ts';
import { fleetNotification, type NamedVehicle, userMessage } from './notification.ts';
import { pushContent } from './push-content.ts';

/** Maximum total length of a request's ids in characters: they are a header; many servers limit headers to 8 KiB. */
const IDS = 4_000;

/** A request for one of the channels. */
type Written =
  | { readonly channel: 'webhook'; readonly count: number; readonly request: WebhookRequest }
  | { readonly channel: 'websocket'; readonly count: number; readonly request: WebsocketRequest }
  | { readonly channel: 'pushnotif'; readonly count: number; readonly request: PushRequest };

/** Returns the vehicle that a notification is about. */
type VehicleOf = (notification: Notification) => NamedVehicle;

/** Creates a notifier that formats notifications for the interface and sends them by the channels. */
export function notifierOf(channels: NotificationChannels, vehicleOf: VehicleOf): Notifier {
  return {
    check(channel, url, where) {
      const found = channels[channel];
      if (found === undefined) throw channelMissing(channel, where);
      found.check(url, where);
    },
    batch(receiver, to, items): RequestBatch {
      const { channel, count, request } = write(receiver, to, vehicleOf, items);
      return {
        count,
        async send() {
          const found = channels[channel];
          if (found === undefined) return { outcome: 'failed', reason: `this agent has no way to send by ${channel}` };
          // The request matches its channel by construction.
          return found.deliver(request as never);
        },
      };
    },
    release(receiver) {
      const { webhook, websocket, pushnotif } = channels;
      for (const channel of [webhook, websocket, pushnotif]) channel?.release?.(receiver);
    },
  };
}

function write(receiver: string, to: Destination, vehicleOf: VehicleOf, items: readonly NotificationItem[]): Written {
  const envelopes = items.map(({ notification }) => {
    const attributes = attributesFor(to, notification);
    return {
      alone: forbidsBatching(attributes),
      ...envelopeOf(attributes, vehicleOf(notification), to.addressee, notification),
    };
  });
  const first = envelopes[0] as NotificationEnvelope & { alone: boolean };
  const mark = markOf(to, first);
  let count = 1;
  let length = items[0]?.id.length ?? 0;
  while (count < items.length && !first.alone && !envelopes[count]?.alone) {
    length += 2 + (items[count]?.id.length ?? 0);
    if (length > IDS || markOf(to, envelopes[count] as NotificationEnvelope) !== mark) break;
    count++;
  }
  const together = items.slice(0, count);
  const ids = together.map(({ id }) => id);
  const { place } = to;
  if (to.side === 'fleet')
    return { channel: 'webhook', count, request: fleetRequest(receiver, to, vehicleOf, together, first) };
  const callbackId = to.addressee.callbackId ?? '';
  const messages = together.map(({ notification }, index) => {
    return userMessage(
      vehicleOf(notification),
      callbackId,
      (envelopes[index] as NotificationEnvelope).body,
      notification,
    );
  });
  switch (place.channel) {
    case 'webhook': {
      // The interface posts a single message as an object and several as an array.
      const body = JSON.stringify(messages.length === 1 ? messages[0] : messages);
      return { channel: 'webhook', count, request: { receiver, ...requestOf(place, first), ids, body } };
    }
    case 'websocket': {
      const contents = messages.map((content, index) => ({ id: ids[index] as string, content }));
      return { channel: 'websocket', count, request: { receiver, url: place.target, messages: contents } };
    }
    default: {
      const [{ id, notification }] = together as [NotificationItem];
      const keywords = { ...lowered(first.body), ...first.headers };
      const title = notification.label ?? to.addressee.label;
      const content = pushContent(id, messages[0] ?? {}, keywords, title);
      return { channel: 'pushnotif', count: 1, request: { receiver, device: place.device, ...content } };
    }
  }
}

function fleetRequest(
  receiver: string,
  to: Destination,
  vehicleOf: VehicleOf,
  items: readonly NotificationItem[],
  envelope: NotificationEnvelope,
): WebhookRequest {
  const notifications = items.map((item) => item.notification);
  const body = fleetNotification(vehicleOf, to.addressee.callbackId ?? '', envelope.body, notifications);
  const place = to.place as Destination['place'] & { channel: 'webhook' };
  return {
    receiver,
    ...requestOf(place, envelope),
    ids: items.map(({ id }) => id),
    body: JSON.stringify(body),
  };
}

function requestOf(
  place: { readonly target: string; readonly secret?: string },
  { headers, query }: NotificationEnvelope,
) {
  const url = new URL(place.target);
  for (const [key, value] of query) url.searchParams.append(key, value);
  return { url: url.href, headers, ...defined({ secret: place.secret }) };
}

/** Returns the attributes of the callback, those that the monitor or command sets for the channel, and its own. */
function attributesFor(to: Destination, notification: Notification): readonly Attribute[] {
  if (to.side === 'fleet') return to.attributes;
  const { attributes = [], callbackAttributes = {} } = notification;
  return [...to.attributes, ...(callbackAttributes[to.place.channel] ?? []), ...attributes];
}

/** Returns a key that is equal for all messages that can share a request. */
function markOf(to: Destination, { headers, query, body }: NotificationEnvelope): string {
  if (to.place.channel === 'websocket') return '';
  // On the user side each message has its own body attributes; on the fleet side the whole request shares them.
  return JSON.stringify(to.side === 'user' ? [headers, query] : [headers, query, body]);
}

function lowered(body: NotificationEnvelope['body']): Record<string, string> {
  return Object.fromEntries(body.map(({ key, value }) => [key.toLowerCase(), value]));
}
