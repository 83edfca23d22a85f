/** How notifications leave the car by one channel: one request, one outcome. */
import type { Receipt } from '../../agent/callbacks/notifier.ts';
import type { Device } from '../../protocol/schema/callback/device.ts';

/** One notification with the id of its event, by which a receiver knows what it has seen. */
export interface NotificationMessage {
  readonly id: string;
  readonly content: unknown;
}

/** One POST. */
export interface WebhookRequest {
  /** The queue it comes from, unique in this car. */
  readonly receiver: string;
  /** Absolute, with its query. */
  readonly url: string;
  /** Those of the attributes; what the request itself needs is the channel's. */
  readonly headers: Readonly<Record<string, string>>;
  readonly ids: readonly string[];
  /** JSON. */
  readonly body: string;
  /** Signs the body. */
  readonly secret?: string;
}

/** Messages for a connection that stays open, in their order. */
export interface WebsocketRequest {
  readonly receiver: string;
  readonly url: string;
  readonly messages: readonly NotificationMessage[];
}

/** RFC 8030 §5.3. */
export const urgencies = ['low', 'normal', 'high'] as const;
export type Urgency = (typeof urgencies)[number];

/** One message for one device. */
export interface PushRequest {
  readonly receiver: string;
  readonly device: Device;
  /** JSON, at most {@link PUSH_PAYLOAD} bytes. */
  readonly payload: string;
  readonly urgency: Urgency;
  /** Seconds that the push service keeps it for a device that is away. RFC 8030 §5.2. */
  readonly ttl: number;
}

/** Bytes that fit into one record of 4096 with its header and tag. RFC 8291 §4. */
export const PUSH_PAYLOAD = 3993;

/** Sends one request. Never takes longer than its time-out, and never rejects. */
export interface NotificationChannel<R> {
  deliver(request: R): Promise<Receipt>;
  /** @throws VigieError `input.malformed` for an address that it would never connect to; `where` says whose */
  check(url: string, where: string): void;
  /** Nothing more comes for this receiver for the time being: what is held open for it can be closed. */
  release?(receiver: string): void;
}

/** A channel that is absent is refused when a callback is given. */
export interface NotificationChannels {
  readonly webhook?: NotificationChannel<WebhookRequest>;
  readonly websocket?: NotificationChannel<WebsocketRequest>;
  readonly pushnotif?: NotificationChannel<PushRequest>;
}
