/** Channels by which notifications leave the car: each request has one outcome. */
import type { Receipt } from '../../agent/callbacks/notifier.ts';
import type { Device } from '../../protocol/schema/callback/device.ts';

/** A notification with the id of its event, by which receivers detect repetitions. */
export interface NotificationMessage {
  readonly id: string;
  readonly content: unknown;
}

/** A single POST request. */
export interface WebhookRequest {
  /** Name of the notification queue, unique in this car. */
  readonly receiver: string;
  /** Absolute URL, including its query. */
  readonly url: string;
  /** Headers from the attributes; the channel adds those that the request itself needs. */
  readonly headers: Readonly<Record<string, string>>;
  readonly ids: readonly string[];
  /** Body in JSON. */
  readonly body: string;
  /** Secret that signs the body. */
  readonly secret?: string;
}

/** Messages to send in this order over a permanent connection. */
export interface WebsocketRequest {
  readonly receiver: string;
  readonly url: string;
  readonly messages: readonly NotificationMessage[];
}

/** Urgencies (RFC 8030 §5.3). */
export const urgencies = ['low', 'normal', 'high'] as const;
export type Urgency = (typeof urgencies)[number];

/** A message for one device. */
export interface PushRequest {
  readonly receiver: string;
  readonly device: Device;
  /** JSON of at most {@link PUSH_PAYLOAD} bytes. */
  readonly payload: string;
  readonly urgency: Urgency;
  /** Time in s for which the push service keeps the message for an offline device (RFC 8030 §5.2). */
  readonly ttl: number;
}

/** Maximum payload in bytes: with header and tag it fits into one record of 4096 bytes (RFC 8291 §4). */
export const PUSH_PAYLOAD = 3993;

/** Sends one request. Always settles within its timeout, and never rejects. */
export interface NotificationChannel<R> {
  deliver(request: R): Promise<Receipt>;
  /** @throws VigieError `input.malformed` for an address that is never permitted; `where` names the address's origin */
  check(url: string, where: string): void;
  /** Call if this receiver gets no messages for a while: the channel may close its connection. */
  release?(receiver: string): void;
}

/** If a channel is absent, callbacks that use it are refused at creation. */
export interface NotificationChannels {
  readonly webhook?: NotificationChannel<WebhookRequest>;
  readonly websocket?: NotificationChannel<WebsocketRequest>;
  readonly pushnotif?: NotificationChannel<PushRequest>;
}
