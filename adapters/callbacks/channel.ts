/** Channels through which notifications leave the car: one request, one outcome. */
import type { Receipt } from '../../agent/callbacks/notifier.ts';
import type { Device } from '../../protocol/schema/callback/device.ts';

/** One notification with the id of its event, by which a receiver detects repetitions. */
export interface NotificationMessage {
  readonly id: string;
  readonly content: unknown;
}

/** One POST. */
export interface WebhookRequest {
  /** Queue of the notification, unique in this car. */
  readonly receiver: string;
  /** Absolute URL with its query. */
  readonly url: string;
  /** Headers of the attributes; the channel adds those that the request itself needs. */
  readonly headers: Readonly<Record<string, string>>;
  readonly ids: readonly string[];
  /** Body in JSON. */
  readonly body: string;
  /** Secret that signs the body. */
  readonly secret?: string;
}

/** Messages for a permanent connection, in their order. */
export interface WebsocketRequest {
  readonly receiver: string;
  readonly url: string;
  readonly messages: readonly NotificationMessage[];
}

/** Urgencies of RFC 8030 §5.3. */
export const urgencies = ['low', 'normal', 'high'] as const;
export type Urgency = (typeof urgencies)[number];

/** One message for one device. */
export interface PushRequest {
  readonly receiver: string;
  readonly device: Device;
  /** JSON of at most {@link PUSH_PAYLOAD} bytes. */
  readonly payload: string;
  readonly urgency: Urgency;
  /** Time for which the push service keeps the message for an offline device, s. RFC 8030 §5.2. */
  readonly ttl: number;
}

/** Payload that fits into one record of 4096 bytes with its header and tag, bytes. RFC 8291 §4. */
export const PUSH_PAYLOAD = 3993;

/** Sends one request. Always settles within its time-out, and never rejects. */
export interface NotificationChannel<R> {
  deliver(request: R): Promise<Receipt>;
  /** @throws VigieError `input.malformed` for an address that is never permitted; `where` names its owner */
  check(url: string, where: string): void;
  /** Call if this receiver gets no messages for now: the channel may close its connection. */
  release?(receiver: string): void;
}

/** A callback for a channel that is absent is refused when it is created. */
export interface NotificationChannels {
  readonly webhook?: NotificationChannel<WebhookRequest>;
  readonly websocket?: NotificationChannel<WebsocketRequest>;
  readonly pushnotif?: NotificationChannel<PushRequest>;
}
